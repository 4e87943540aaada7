#!/bin/sh
# Makes the secrets of deploy/compose.yaml in a directory, once: the key of the service, the password of the database, and
# the address that contains it. Run it as root: each file then belongs to the one user that reads it.
set -eu

directory=${1:?"the directory to make, such as deploy/secrets"}
# The user of the image, as in install.sh.
user=10001

if [ -e "$directory" ]; then
    echo "make-secrets.sh: $directory is there already, and is left as it is" >&2
    exit 1
fi

umask 077
unfinished=$directory.unfinished
mkdir "$unfinished"
password=$(openssl rand -hex 32)
openssl rand -base64 32 > "$unfinished/secret_key"
printf '%s\n' "$password" > "$unfinished/database_password"
printf 'postgresql://kasuwa:%s@database/kasuwa\n' "$password" > "$unfinished/database_url"
chmod 0400 "$unfinished"/*
chmod 0711 "$unfinished"
if [ "$(id -u)" = 0 ]; then
    chown "$user:$user" "$unfinished/secret_key" "$unfinished/database_url"
fi
mv "$unfinished" "$directory"

echo "made $directory: keep a copy of secret_key away from the database and its backups"
if [ "$(id -u)" != 0 ]; then
    echo "now let the service read its files: sudo chown $user:$user $directory/secret_key $directory/database_url"
fi
