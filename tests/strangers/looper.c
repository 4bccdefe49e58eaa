/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* The commands of the loop driver, in the manner of LiS's test programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <sys/types.h>
#include <sys/stropts.h>
#include <sys/LiS/loop.h>

#define	DEV1	"/dev/loop.11"
#define	DEV2	"/dev/loop.12"

static int	step ;

#define	CHECK(cond)							\
	do {								\
	    step++ ;							\
	    if (!(cond)) {						\
		fprintf(stderr, "line %d, step %d: %s (errno %d: %s)\n",\
			__LINE__, step, #cond, errno, strerror(errno)) ;\
		exit(1) ;						\
	    }								\
	} while (0)

/* an I_STR; what comes back is in *arg */
static int	command(int fd, int cmd, void *arg, int len)
{
    struct strioctl	ioc ;

    ioc.ic_cmd    = cmd ;
    ioc.ic_timout = 10 ;
    ioc.ic_len    = len ;
    ioc.ic_dp     = arg ;
    return ioctl(fd, I_STR, &ioc) ;
}

static int	readable(int fd, int ms)
{
    struct pollfd	p ;

    p.fd = fd ;
    p.events = POLLIN ;
    p.revents = 0 ;
    return poll(&p, 1, ms) == 1 && (p.revents & POLLIN) ;
}

/* one message's data: its length */
static int	get(int fd, char *buf, int size)
{
    struct strbuf	d ;
    int			flags = 0 ;
    int			r ;

    d.maxlen = size ;
    d.buf = buf ;
    r = getmsg(fd, NULL, &d, &flags) ;
    return r != 0 ? -1 : d.len ;
}

int	main(int argc, char **argv)
{
    char		buf[512], big[512] ;
    loop_xparent_t	xp ;
    int			fd1, fd2, fd3, arg, i ;

    fd1 = open(DEV1, O_RDWR) ;
    CHECK(fd1 >= 0) ;
    arg = 12 ;
    CHECK(command(fd1, LOOP_SET, &arg, sizeof(arg)) < 0 && errno == ENXIO) ;
    fd2 = open(DEV2, O_RDWR) ;
    CHECK(fd2 >= 0) ;
    CHECK(command(fd1, LOOP_SET, &arg, 1) < 0 && errno == EINVAL) ;
    CHECK(command(fd1, LOOP_SET, &arg, sizeof(arg)) == 0) ;
    CHECK(command(fd1, LOOP_SET, &arg, sizeof(arg)) < 0 && errno == EBUSY) ;
    CHECK(command(fd2, LOOP_IOCTL(99), &arg, 0) < 0 && errno == EINVAL) ;
    arg = -1 ;
    CHECK(command(fd1, LOOP_GET_DEV, &arg, sizeof(arg)) >= 0) ;
    CHECK(arg == 11) ;

    /* plain traffic */
    CHECK(write(fd1, "abc", 3) == 3) ;
    CHECK(read(fd2, buf, sizeof(buf)) == 3 && memcmp(buf, "abc", 3) == 0) ;
    CHECK(write(fd2, "back", 4) == 4) ;
    CHECK(read(fd1, buf, sizeof(buf)) == 4) ;

    CHECK(command(fd1, LOOP_PUTNXT, NULL, 0) == 0) ;
    CHECK(write(fd1, "quick", 5) == 5) ;
    CHECK(read(fd2, buf, sizeof(buf)) == 5) ;

    /* marks: the next two messages */
    CHECK(command(fd1, LOOP_MARK, NULL, 0) == 0) ;
    CHECK(command(fd1, LOOP_MARK, NULL, 0) == 0) ;
    for (i = 0 ; i < 3 ; i++)
	CHECK(write(fd1, "m", 1) == 1) ;
    CHECK(readable(fd2, 5000)) ;
    CHECK(ioctl(fd2, I_ATMARK, ANYMARK) == 1) ;
    CHECK(get(fd2, buf, sizeof(buf)) == 1) ;
    CHECK(readable(fd2, 5000)) ;
    CHECK(ioctl(fd2, I_ATMARK, ANYMARK) == 1) ;
    CHECK(get(fd2, buf, sizeof(buf)) == 1) ;
    CHECK(readable(fd2, 5000)) ;
    CHECK(ioctl(fd2, I_ATMARK, ANYMARK) == 0) ;
    CHECK(get(fd2, buf, sizeof(buf)) == 1) ;

    /* three messages become one */
    arg = 3 ;
    CHECK(command(fd1, LOOP_CONCAT, &arg, sizeof(arg)) == 0) ;
    CHECK(write(fd1, "one", 3) == 3) ;
    CHECK(write(fd1, "two", 3) == 3) ;
    CHECK(write(fd1, "six", 3) == 3) ;
    CHECK(get(fd2, buf, sizeof(buf)) == 9) ;
    CHECK(memcmp(buf, "onetwosix", 9) == 0) ;

    /* one message becomes four, and the next is one again */
    arg = 4 ;
    CHECK(command(fd1, LOOP_BURST, &arg, sizeof(arg)) == 0) ;
    CHECK(write(fd1, "echo", 4) == 4) ;
    CHECK(write(fd1, "last", 4) == 4) ;
    for (i = 0 ; i < 5 ; i++) {
	CHECK(get(fd2, buf, sizeof(buf)) == 4) ;
	CHECK(memcmp(buf, i < 4 ? "echo" : "last", 4) == 0) ;
    }

    /* copies are as good */
    CHECK(command(fd1, LOOP_COPY, NULL, 0) == 0) ;
    memset(big, 'q', sizeof(big)) ;
    CHECK(write(fd1, big, sizeof(big)) == sizeof(big)) ;
    CHECK(read(fd2, buf, sizeof(buf)) == sizeof(buf)) ;
    CHECK(memcmp(big, buf, sizeof(buf)) == 0) ;

    /* what was not read goes before what comes with the flush */
    CHECK(write(fd1, "stale", 5) == 5) ;
    CHECK(readable(fd2, 5000)) ;
    strcpy(buf, "fresh") ;
    CHECK(command(fd1, LOOP_FLUSH, buf, 5) >= 0) ;
    CHECK(get(fd2, buf, sizeof(buf)) == 5) ;
    CHECK(memcmp(buf, "fresh", 5) == 0) ;

    /* transparent: the bytes that are fetched can be had back */
    strcpy(big, "a string of thirty-one letters") ;
    xp.cmnd = LOOP_XPARENT_COPYOUT ;
    xp.i_arg = sizeof(buf) ;
    xp.p_arg = buf ;
    CHECK(ioctl(fd1, LOOP_XPARENT_COPYOUT, &xp) < 0 && errno == EINVAL) ;
    xp.cmnd = LOOP_XPARENT_COPYIN ;
    xp.i_arg = 31 ;
    xp.p_arg = big ;
    CHECK(ioctl(fd1, LOOP_XPARENT_COPYIN, &xp) >= 0) ;
    memset(buf, 0, sizeof(buf)) ;
    xp.cmnd = LOOP_XPARENT_COPYOUT ;
    xp.i_arg = sizeof(buf) ;
    xp.p_arg = buf ;
    CHECK(ioctl(fd1, LOOP_XPARENT_COPYOUT, &xp) >= 0) ;
    CHECK(strcmp(buf, "a string of thirty-one letters") == 0) ;
    xp.p_arg = (void *) 8 ;
    CHECK(ioctl(fd1, LOOP_XPARENT_COPYIN, &xp) < 0 && errno == EFAULT) ;

    /* doors: closed to others, and open again */
    CHECK(command(fd1, LOOP_DENY_OPEN, NULL, 0) == 0) ;
    CHECK((fd3 = open(DEV1, O_RDWR)) < 0 && errno == EBUSY) ;
    CHECK(command(fd1, LOOP_DENY_OPEN, NULL, 0) == 0) ;
    CHECK((fd3 = open(DEV1, O_RDWR)) >= 0) ;
    close(fd3) ;

    /* nothing comes before the third message is there */
    arg = 2 ;
    CHECK(command(fd2, LOOP_MSGLVL, &arg, sizeof(arg)) == 0) ;
    CHECK(write(fd2, "1", 1) == 1 && write(fd2, "2", 1) == 1) ;
    CHECK(!readable(fd1, 30)) ;
    CHECK(write(fd2, "3", 1) == 1) ;
    for (i = '1' ; i <= '3' ; i++)
	CHECK(get(fd1, buf, 1) == 1 && buf[0] == i) ;
    arg = 0 ;
    CHECK(command(fd2, LOOP_MSGLVL, &arg, sizeof(arg)) == 0) ;

    /* later, and when there is memory */
    arg = 3 ;
    CHECK(command(fd2, LOOP_TIMR, &arg, sizeof(arg)) == 0) ;
    CHECK(write(fd2, "late", 4) == 4) ;
    CHECK(readable(fd1, 5000)) ;
    CHECK(get(fd1, buf, sizeof(buf)) == 4) ;
    CHECK(command(fd1, LOOP_BUFCALL, NULL, 0) == 0) ;
    CHECK(write(fd1, "called", 6) == 6) ;
    CHECK(readable(fd2, 5000)) ;
    CHECK(get(fd2, buf, sizeof(buf)) == 6) ;

    /* closing one hangs up the other; minor 255 is none */
    CHECK(close(fd1) == 0) ;
    {
	struct pollfd	p ;

	p.fd = fd2 ;
	p.events = POLLIN ;
	CHECK(poll(&p, 1, 5000) == 1 && (p.revents & POLLHUP)) ;
    }
    CHECK(read(fd2, buf, sizeof(buf)) == 0) ;
    CHECK(write(fd2, "x", 1) < 0 && errno == ENXIO) ;
    CHECK(close(fd2) == 0) ;
    CHECK(open("/dev/loop.255", O_RDWR) < 0 && errno == ENODEV) ;

    /* clones have different minors */
    CHECK((fd1 = open("/dev/loop_clone", O_RDWR)) >= 0) ;
    CHECK((fd2 = open("/dev/loop_clone", O_RDWR)) >= 0) ;
    CHECK(command(fd1, LOOP_GET_DEV, &arg, sizeof(arg)) >= 0) ;
    CHECK(command(fd2, LOOP_GET_DEV, &i, sizeof(i)) >= 0) ;
    CHECK(arg != i && arg > 0 && i > 0) ;
    CHECK(command(fd1, LOOP_SET, &i, sizeof(i)) == 0) ;
    CHECK(write(fd1, "z", 1) == 1 && get(fd2, buf, 9) == 1) ;
    return 0 ;
}
