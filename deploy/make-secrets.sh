#!/bin/sh
# Makes the secrets of deploy/compose.yaml in a directory, once: the keys of the service, the passwords of the database, and
# the addresses that contain them. Run it as root: each file then belongs to the one user that reads it.
set -eu

directory=${1:?"the directory to make, such as deploy/secrets"}
# The user of the image, as in install.sh, and that of the image of PostgreSQL.
user=10001
postgres=999

if [ -e "$directory" ]; then
    echo "make-secrets.sh: $directory is there already, and is left as it is" >&2
    exit 1
fi

umask 077
unfinished=$directory.unfinished
rm -rf "$unfinished"
mkdir "$unfinished"

# make_login NAME ADDRESS: a password, and the address with the login kasuwa_NAME.
make_login() {
    password=$(openssl rand -hex 32)
    printf '%s\n' "$password" > "$unfinished/$1_password"
    printf 'postgresql://kasuwa_%s:%s@database/kasuwa\n' "$1" "$password" > "$unfinished/$2"
}

make_login owner database_owner_url
make_login service database_url
make_login reader database_reader_url
openssl rand -base64 32 > "$unfinished/close_key"
openssl rand -base64 32 > "$unfinished/secret_key"
openssl rand -hex 32 > "$unfinished/database_password"
chmod 0400 "$unfinished"/*
if [ "$(id -u)" = 0 ]; then
    chown "$user:$user" "$unfinished"/database_*url "$unfinished/close_key" "$unfinished/secret_key"
    chown "$postgres:$postgres" "$unfinished/owner_password" "$unfinished/service_password" "$unfinished/reader_password"
fi
chmod 0711 "$unfinished"
mv "$unfinished" "$directory"
echo "made $directory: keep copies of secret_key and close_key away from the database and its backups"
if [ "$(id -u)" != 0 ]; then
    echo "now let those who need them read the files:"
    echo "sudo chown $user:$user $directory/secret_key $directory/close_key $directory/database_url $directory/database_owner_url $directory/database_reader_url"
    echo "sudo chown $postgres:$postgres $directory/owner_password $directory/service_password $directory/reader_password"
fi
