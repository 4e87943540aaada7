#!/bin/sh
# Installs Kasuwa below $PREFIX (/opt/kasuwa) on Debian 12. The Dockerfile runs these steps one by one, so that a change
# of the sources repeats only the last of them. On a machine, as root, from a copy of the repository:
#
#     sh deploy/install.sh build-packages runtime-packages user dependencies package
set -eu

PREFIX=${PREFIX:-/opt/kasuwa}
SOURCE=$(cd "$(dirname "$0")/.." && pwd)
export DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore

install_packages() {
    apt-get update
    apt-get install --yes --no-install-recommends "$@"
    apt-get clean
    rm -rf /var/lib/apt/lists/*
}

for step in "$@"; do
    case "$step" in
    build-packages)
        install_packages python3 python3-venv
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
        "$PREFIX/bin/pip" wheel --no-deps --no-build-isolation --wheel-dir "$work/wheel" "$work"
        "$PREFIX/bin/pip" install --no-deps --no-index --force-reinstall "$work"/wheel/kasuwa-*.whl
        rm -rf "$work"
        # Nothing is installed at run time. A new virtual environment brings pip back.
        "$PREFIX/bin/pip" uninstall --yes pip
        ;;
    *)
        echo "install.sh: there is no step $step" >&2
        exit 2
        ;;
    esac
done
