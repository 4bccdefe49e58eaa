/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The Stream heads of FIFOs and devices, where they are not like a pipe's:
 * access modes, end of file, what a hang-up means, what stands below.
 * The texts are POSIX open(), read(), write(), poll(), fifo(7) and the SVR4
 * texts of write(2) and streamio(7I).
 */
#include "st.h"

#include <asm/sockios.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#define FIFO "/dev/streams/fifo/7"
#define ANY_FIFO "/dev/streams/clone/fifo"
#define ECHO "/dev/streams/clone/echo"

static volatile sig_atomic_t pipes;

static void
on_pipe(int sig)
{
	(void)sig;
	pipes++;
}

static void
count_sigpipe(void)
{
	struct sigaction sa = { .sa_handler = on_pipe };

	pipes = 0;
	T_OK(sigaction(SIGPIPE, &sa, NULL));
}

/* A FIFO with a reader and a writer. */
static void
fifo(int *r, int *w)
{
	*r = T_OK(open(FIFO, O_RDONLY | O_NONBLOCK));
	*w = T_OK(open(FIFO, O_WRONLY | O_NONBLOCK));
}

/* POSIX read(): "EBADF ... not a valid file descriptor open for reading" */
T_CASE(a_fifo_opened_for_writing_cannot_be_read)
{
	struct iovec v = { (char[4]){ 0 }, 4 };
	struct st_msg m;
	char c;
	int r, w;

	fifo(&r, &w);
	ST_WRITES(w, "x");
	T_ERR(read(w, &c, 1), EBADF);
	T_ERR(readv(w, &v, 1), EBADF);
	T_ERR(st_get(w, &m, 0), EBADF);
	T_ERR(st_getp(w, &m, 0, MSG_ANY), EBADF);
	ST_READS(r, 4, "x");
}

/* POSIX write(): "EBADF ... open for writing" */
T_CASE(a_fifo_opened_for_reading_cannot_be_written)
{
	struct iovec v = { (char[4]){ 0 }, 4 };
	char c;
	int r, w;

	fifo(&r, &w);
	T_ERR(write(r, "x", 1), EBADF);
	T_ERR(writev(r, &v, 1), EBADF);
	T_ERR(st_put(r, NULL, "x", 0), EBADF);
	T_ERR(st_putp(r, NULL, "x", 0, MSG_BAND), EBADF);
	T_ERR(read(r, &c, 1), EAGAIN);
}

/* The same of a device */
T_CASE(a_device_keeps_to_its_access_mode)
{
	struct st_msg m;
	char c;
	int fd = T_OK(open(ECHO, O_RDONLY | O_NONBLOCK));

	T_ERR(write(fd, "x", 1), EBADF);
	T_ERR(st_put(fd, NULL, "x", 0), EBADF);
	T_ERR(read(fd, &c, 1), EAGAIN);
	T_OK(close(fd));
	fd = T_OK(open(ECHO, O_WRONLY));
	T_ERR(read(fd, &c, 1), EBADF);
	T_ERR(st_get(fd, &m, 0), EBADF);
	ST_WRITES(fd, "x");
}

/* POSIX open(): O_NONBLOCK, O_RDONLY returns at once; read(): no writer, 0 */
T_CASE(a_fifo_without_a_writer_is_at_its_end)
{
	struct st_msg m;
	char c;
	int r = T_OK(open(FIFO, O_RDONLY | O_NONBLOCK));

	T_EQ(read(r, &c, 1), 0);
	T_EQ(st_get(r, &m, 0), 0);
	T_EQ(m.data_len, 0);
}

/* Linux fifo(7), poll(2): no POLLHUP before a write */
T_CASE(a_fifo_that_never_had_a_writer_is_not_hung_up)
{
	int r = T_OK(open("/dev/streams/fifo/8", O_RDONLY | O_NONBLOCK));

	T_EQ(st_revents(r, POLLIN), 0);
}

/* POSIX open(): "O_NONBLOCK ... ENXIO ... no process has the file open" */
T_CASE(a_fifo_without_a_reader_cannot_be_opened_for_writing)
{
	T_ERR(open(FIFO, O_WRONLY | O_NONBLOCK), ENXIO);
}

/* fifo(4): no process can open the other side of what a clone open makes */
T_CASE(half_of_an_unnamed_fifo_cannot_be_waited_for)
{
	T_ERR(open(ANY_FIFO, O_RDONLY), ENXIO);
	T_ERR(open(ANY_FIFO, O_WRONLY), ENXIO);
	T_ERR(open(ANY_FIFO, O_WRONLY | O_NONBLOCK), ENXIO);
	T_OK(close(T_OK(open(ANY_FIFO, O_RDONLY | O_NONBLOCK))));
	T_OK(close(T_OK(open(ANY_FIFO, O_RDWR))));
}

/* POSIX open(): blocks until the other side is there */
T_CASE(opening_a_fifo_waits_for_the_other_side)
{
	char c;
	int fd, *step;
	pid_t pid;

	/* one domain for both */
	fd = T_OK(open(ECHO, O_RDWR));
	T_OK(close(fd));
	step = st_shared(sizeof *step);
	pid = st_fork();
	if (pid == 0) {
		*step = 1;
		fd = T_OK(open(FIFO, O_WRONLY));
		T_EQ(write(fd, "x", 1), 1);
		_exit(0);
	}
	T_SOON(*step == 1, 4000);
	st_wait_asleep(pid);
	fd = T_OK(open(FIFO, O_RDONLY));
	T_EQ(read(fd, &c, 1), 1);
	st_reap(pid);
	T_EQ(read(fd, &c, 1), 0);
}

/* POSIX read(): end of file when the last writer has closed, data first */
T_CASE(the_last_writer_ends_the_file)
{
	char c;
	int r, w, w2;

	fifo(&r, &w);
	w2 = T_OK(open(FIFO, O_WRONLY));
	ST_WRITES(w, "left");
	T_OK(close(w));
	ST_READS(r, 10, "left");
	T_ERR(read(r, &c, 1), EAGAIN);
	T_OK(close(w2));
	T_EQ(read(r, &c, 1), 0);
	/* and there may be another one */
	w = T_OK(open(FIFO, O_WRONLY));
	T_ERR(read(r, &c, 1), EAGAIN);
	ST_WRITES(w, "again");
	ST_READS(r, 10, "again");
}

/* The same wakes who sleeps */
T_CASE(the_last_writer_ends_a_waiting_read)
{
	char c;
	int r, w;
	pid_t pid;

	fifo(&r, &w);
	T_OK(fcntl(r, F_SETFL, 0));
	pid = st_fork();
	if (pid == 0) {
		T_OK(close(w));
		T_EQ(read(r, &c, 1), 0);
		_exit(0);
	}
	st_wait_asleep(pid);
	T_OK(close(w));
	st_reap(pid);
}

/* POSIX write(): EPIPE and SIGPIPE without a reader */
T_CASE(without_a_reader_a_fifo_is_broken)
{
	int r, w;

	fifo(&r, &w);
	count_sigpipe();
	ST_WRITES(w, "x");
	T_OK(close(r));
	T_ERR(write(w, "x", 1), EPIPE);
	T_EQ(pipes, 1);
	T_ERR(st_put(w, NULL, "x", 0), EPIPE);
	T_EQ(pipes, 2);
	r = T_OK(open(FIFO, O_RDONLY | O_NONBLOCK));
	ST_WRITES(w, "y");
}

/* Linux poll(2): POLLHUP for the reader, after what is left */
T_CASE(a_reader_polls_for_the_last_writer)
{
	int r, w;

	fifo(&r, &w);
	T_EQ(st_revents(r, POLLIN), 0);
	ST_WRITES(w, "x");
	T_EQ(st_revents(r, POLLIN), POLLIN);
	T_OK(close(w));
	T_EQ(st_revents(r, POLLIN), POLLIN | POLLHUP);
	ST_READS(r, 4, "x");
	T_EQ(st_revents(r, POLLIN), POLLHUP);
}

/* Linux poll(2): POLLERR for the writer */
T_CASE(a_writer_polls_for_the_last_reader)
{
	int r, w;

	fifo(&r, &w);
	T_EQ(st_revents(w, POLLOUT), POLLOUT);
	T_OK(close(r));
	T_EQ(st_revents(w, POLLOUT), POLLOUT | POLLERR);
}

/* A FIFO of another number is another FIFO */
T_CASE(fifos_are_told_apart_by_their_number)
{
	char c;
	int a = T_OK(open("/dev/streams/fifo/1", O_RDWR | O_NONBLOCK));
	int b = T_OK(open("/dev/streams/fifo/2", O_RDWR | O_NONBLOCK));

	ST_WRITES(a, "x");
	T_ERR(read(b, &c, 1), EAGAIN);
	T_EQ(read(a, &c, 1), 1);
}

/* I_LIST: "the driver is included" */
T_CASE(i_list_names_the_driver_last)
{
	struct str_mlist names[4];
	struct str_list l = { 4, names };
	int fd = T_OK(open(ECHO, O_RDWR));

	T_EQ(ioctl(fd, I_LIST, NULL), 1);
	T_OK(ioctl(fd, I_PUSH, "nullmod"));
	T_OK(ioctl(fd, I_PUSH, "srvmod"));
	T_EQ(ioctl(fd, I_LIST, NULL), 3);
	T_EQ(ioctl(fd, I_LIST, &l), 0);
	T_EQ(l.sl_nmods, 3);
	T_STR(names[0].l_name, "srvmod");
	T_STR(names[1].l_name, "nullmod");
	T_STR(names[2].l_name, "echo");
	l.sl_nmods = 1;
	T_EQ(ioctl(fd, I_LIST, &l), 0);
	T_EQ(l.sl_nmods, 1);
}

/* I_LOOK: "EINVAL No module is present"; I_FIND finds the driver, too */
T_CASE(a_driver_is_no_module)
{
	char name[FMNAMESZ + 1];
	int fd = T_OK(open(ECHO, O_RDWR));

	T_ERR(ioctl(fd, I_LOOK, name), EINVAL);
	T_ERR(ioctl(fd, I_POP, 0), EINVAL);
	T_EQ(ioctl(fd, I_FIND, "echo"), 1);
	T_EQ(ioctl(fd, I_FIND, "nullmod"), 0);
	T_ERR(ioctl(fd, I_PUSH, "echo"), EINVAL);
	T_EQ(ioctl(fd, I_GET_PUSHCNT, 0), 0);
	T_OK(ioctl(fd, I_PUSH, "nullmod"));
	T_EQ(ioctl(fd, I_LOOK, name), 0);
	T_STR(name, "nullmod");
	T_OK(ioctl(fd, I_POP, 0));
	T_ERR(ioctl(fd, I_POP, 0), EINVAL);
}

/* SVR4 write(2): "ENXIO a hangup occurred"; no signal; read gives 0 */
T_CASE(a_hung_up_device_is_enxio)
{
	struct st_msg m;
	char c;
	int fd = T_OK(open(ECHO, O_RDWR));

	count_sigpipe();
	st_break(fd, TM_IOC_HANGUP, 0);
	T_ERR(write(fd, "x", 1), ENXIO);
	T_ERR(st_put(fd, NULL, "x", 0), ENXIO);
	T_ERR(st_put(fd, "hi", NULL, RS_HIPRI), ENXIO);
	T_EQ(pipes, 0);
	T_EQ(read(fd, &c, 1), 0);
	T_EQ(st_get(fd, &m, 0), 0);
	T_EQ(st_revents(fd, POLLIN | POLLOUT), POLLHUP);
	T_ERR(ioctl(fd, I_PUSH, "nullmod"), ENXIO);
	T_EQ(close(fd), 0);
}

/* M_FLUSH: both sides of a device, and what stands in its modules */
T_CASE(flushing_a_device_empties_it)
{
	struct bandinfo bi = { 3, FLUSHR };
	int fd = T_OK(open(ECHO, O_RDWR | O_NONBLOCK));

	T_OK(ioctl(fd, I_PUSH, "srvmod"));
	ST_WRITES(fd, "x");
	T_EQ(st_putp(fd, NULL, "b", 3, MSG_BAND), 0);
	T_SOON((st_revents(fd, POLLIN), st_queued(fd)) == 2, 2000);
	T_OK(ioctl(fd, I_FLUSHBAND, &bi));
	T_SOON(st_queued(fd) == 1, 2000);
	T_OK(ioctl(fd, I_FLUSH, FLUSHRW));
	T_SOON(st_queued(fd) == 0, 2000);
}

/* streamio(7I): an unknown ioctl is EINVAL, a terminal's ENOTTY */
T_CASE(ioctls_that_no_driver_knows)
{
	char buf[64];
	int fd = T_OK(open(ECHO, O_RDWR)), len = 4;

	T_ERR(ioctl(fd, 'x' << 8 | 1, buf), EINVAL);
	T_ERR(st_str(fd, 'x' << 8 | 1, 0, &len, buf), EINVAL);
	T_ERR(ioctl(fd, 0x5401 /* TCGETS */, buf), ENOTTY);
	T_EQ(isatty(fd), 0);
	T_EQ(isastream(fd), 1);
}

/* I_FDINSERT: the token tells one Stream from another */
T_CASE(i_fdinsert_sends_a_token_of_the_stream)
{
	unsigned int tok[3];
	char ctl[16], data[] = "data";
	struct strfdinsert u = { { 0, 16, ctl }, { 0, 4, data }, 0, 0, 8 };
	struct st_msg m;
	int fd[2], dev[2];

	st_pipe_more(fd);
	dev[0] = T_OK(open(ECHO, O_RDWR));
	dev[1] = T_OK(open(ECHO, O_RDWR));
	memset(ctl, 'c', sizeof ctl);
	for (int i = 0; i < 3; i++) {
		u.fildes = dev[i & 1];
		T_EQ(ioctl(fd[0], I_FDINSERT, &u), 0);
		T_EQ(st_get(fd[1], &m, 0), 0);
		T_EQ(m.ctl_len, 16);
		T_EQ(m.data_len, 4);
		T_MEM(m.data, "data", 4);
		T_MEM(m.ctl, "cccccccc", 8);
		T_MEM(m.ctl + 12, "cccc", 4);
		memcpy(&tok[i], m.ctl + 8, sizeof tok[i]);
	}
	T_EQ(tok[0], tok[2]);
	T_NE(tok[0], tok[1]);
	T_NE(tok[0], 0u);
	/* the caller's buffer is as it was, and the message may be urgent */
	T_MEM(ctl, "cccccccccccccccc", 16);
	u.flags = RS_HIPRI;
	u.databuf.len = -1;
	T_EQ(ioctl(fd[0], I_FDINSERT, &u), 0);
	T_EQ(st_get(fd[1], &m, RS_HIPRI), 0);
	T_EQ(m.flags, RS_HIPRI);
	T_EQ(m.data_len, -1);
}

/* The Stream itself may be the one that is named */
T_CASE(i_fdinsert_may_name_the_same_stream)
{
	char ctl[4];
	struct strfdinsert u = { { 0, 4, ctl }, { 0, -1, NULL }, 0, 0, 0 };
	int fd = T_OK(open(ECHO, O_RDWR));

	u.fildes = fd;
	T_EQ(ioctl(fd, I_FDINSERT, &u), 0);
}
