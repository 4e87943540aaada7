"""Enters the file system of an image as its user, without capabilities, and becomes a command there.

Run by the containers of image.py as root, with the Python of the tests: the image has no program for it. Arguments:
root, user, group, working directory, command."""

import ctypes
import os
import sys
from pathlib import Path

# Of <linux/prctl.h>.
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38


def control(*numbers: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(*(ctypes.c_ulong(number) for number in (*numbers, 0, 0, 0))) != 0:
        raise OSError(ctypes.get_errno(), f"prctl{numbers}")


def main(root: str, user: str, group: str, directory: str, *command: str) -> None:
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    os.chroot(root)
    os.chdir(directory)
    for capability in range(last + 1):
        control(PR_CAPBSET_DROP, capability)
    os.setgroups([])
    os.setresgid(int(group), int(group), int(group))
    os.setresuid(int(user), int(user), int(user))
    control(PR_SET_NO_NEW_PRIVS, 1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
