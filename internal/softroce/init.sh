#!/bin/busybox sh
# The guest's first process. It loads the modules, lays a writable overlay over
# the host's file system and hands over to the agent, whose command line comes
# as arguments from the kernel's command line (all that follows "--").

/bin/busybox --install -s /bin
export PATH=/bin

stop() {
	[ -z "$1" ] || echo "softroce: guest cannot start: $1"
	poweroff -f
}

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev

while read -r module; do
	insmod "/modules/$module" || stop "loading $module failed"
done </modules/order

mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=loose,ro host /host ||
	stop "mounting the host's file system failed"
mount -t tmpfs -o mode=755 tmpfs /over
mkdir /over/upper /over/work
mount -t overlay -o lowerdir=/host,upperdir=/over/upper,workdir=/over/work overlay /root ||
	stop "mounting the overlay failed"

mount -t proc proc /root/proc
mount -t sysfs sysfs /root/sys
mount -t devtmpfs devtmpfs /root/dev
mkdir -p /root/dev/pts /root/dev/shm
mount -t devpts devpts /root/dev/pts
mount -t tmpfs -o mode=1777 tmpfs /root/dev/shm

PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot /root "$@"
stop
