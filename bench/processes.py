"""Finds the processes of a server, and reads their memory and CPU time."""

import re

import psutil

# Matches a whole word of the name or the command line, not a path or module that contains the letters.
API = re.compile(r"(?<![\w./-])api(?![\w./-])")


def process_tree(process: psutil.Process) -> list[psutil.Process]:
    """Returns a process and all its descendants."""
    return [process, *process.children(recursive=True)]


def api_process(serve: psutil.Process) -> psutil.Process:
    """Returns the busiest of the processes named `api` and their children: HTTP servers have a parent process. Without
    such a name, returns the busiest of the whole tree."""
    called = [process for process in process_tree(serve) if API.search(command(process))]
    candidates = {child for process in called for child in process_tree(process)} or set(process_tree(serve))
    return max(candidates, key=seconds_used)


def api_seconds_used(serve: psutil.Process) -> float:
    """Returns the CPU time of all API processes."""
    named = [process for process in process_tree(serve) if API.search(command(process))]
    return sum(seconds_used(process) for process in named or [api_process(serve)])


def command(process: psutil.Process) -> str:
    try:
        return " ".join((process.name(), *process.cmdline()))
    except psutil.Error:
        return ""


def seconds_used(process: psutil.Process) -> float:
    """Returns the CPU time of the process itself."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def seconds_used_below(head: psutil.Process) -> float:
    """Returns the CPU time of a process and its descendants, including those that have ended and were waited for."""
    total = 0.0
    for process in process_tree(head):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def resident_mb(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / 1e6
