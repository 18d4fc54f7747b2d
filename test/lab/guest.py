"""A guest with an operating system: Debian's kernel, and a file system in memory with the QEMU guest agent and nothing else. It boots in some ten seconds
of an emulated processor and needs 128 MB. Its serial console, which Nova shows, has every command that the agent reads."""
import functools
import gzip
import os
import pathlib
import re
import subprocess

# The agent's device has a number of its own, and its name stands in /sys; udev would make a link of that name.
INIT = """#!/bin/busybox sh
export PATH=/bin
busybox mount -t devtmpfs none /dev
busybox mount -t sysfs none /sys
busybox mount -t proc none /proc
exec </dev/null >/dev/ttyS0 2>&1
port=$(cd /sys/class/virtio-ports && busybox grep -l org.qemu.guest_agent.0 */name)
qemu-ga --verbose --statedir=/run --path=/dev/${port%/name}
echo "the agent has ended"
while :; do busybox sleep 3600; done
"""


@functools.cache
def kernel():
    """The newest that is installed."""
    return max(pathlib.Path("/boot").glob("vmlinuz-*"), key=lambda path: path.stat().st_mtime).read_bytes()


@functools.cache
def ramdisk():
    """A compressed cpio archive, as the kernel unpacks it."""
    files = {"init": INIT.encode(), "bin/busybox": read("/usr/bin/busybox"), "bin/qemu-ga": read("/usr/sbin/qemu-ga")}
    libraries = re.findall(r"/\S+", subprocess.run(["ldd", "/usr/sbin/qemu-ga"], capture_output=True, check=True, text=True).stdout)
    files.update({path[1:]: read(path) for path in libraries})
    parents = {str(parent) for path in files for parent in pathlib.Path(path).parents} - {"."}
    folders = sorted(parents | {"dev", "proc", "run", "sys"})
    entries = [(name, 0o040755, b"") for name in folders] + [(name, 0o100755, data) for name, data in files.items()]
    return gzip.compress(b"".join(entry(*each) for each in [*entries, ("TRAILER!!!", 0, b"")]), 1)


def read(path):
    return pathlib.Path(os.path.realpath(path)).read_bytes()


def entry(name, mode, data):
    """A member of an archive in the format newc: thirteen numbers, the name, and the data, each padded to four bytes."""
    numbers = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)
