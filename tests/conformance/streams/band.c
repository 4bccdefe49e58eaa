/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * putpmsg() and getpmsg(): the 256 priority bands.
 * The text is putpmsg(2) and getpmsg(2), and POSIX putpmsg() and getpmsg().
 */
#include "st.h"

#include <sys/filio.h>

/* getpmsg(2): flags is MSG_BAND and band that of the message */
ST_ANY_CASE(getpmsg_tells_the_band)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], "ctl", "data", 5, MSG_BAND), 0);
	T_EQ(st_getp(fd[1], &m, 0, MSG_ANY), 0);
	ST_IS(&m, "ctl", "data");
	T_EQ(m.band, 5);
	T_EQ(m.flags, MSG_BAND);
}

/* getpmsg(2): a normal message is one of band 0 */
ST_ANY_CASE(a_normal_message_has_band_zero)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], NULL, "data", 0), 0);
	T_EQ(st_getp(fd[1], &m, 0, MSG_ANY), 0);
	T_EQ(m.band, 0);
	T_EQ(m.flags, MSG_BAND);
}

/* write(2) sends messages of band 0 */
ST_ANY_CASE(what_write_sends_has_band_zero)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	ST_WRITES(fd[0], "data");
	T_EQ(st_getp(fd[1], &m, 0, MSG_ANY), 0);
	ST_IS(&m, NULL, "data");
	T_EQ(m.band, 0);
	T_EQ(m.flags, MSG_BAND);
}

/* getpmsg(2): flags is MSG_HIPRI and band 0 for a high-priority message */
ST_ANY_CASE(getpmsg_tells_high_priority)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], "ctl", NULL, 0, MSG_HIPRI), 0);
	m.band = 9;
	T_EQ(st_getp(fd[1], &m, 0, MSG_ANY), 0);
	ST_IS(&m, "ctl", NULL);
	T_EQ(m.band, 0);
	T_EQ(m.flags, MSG_HIPRI);
}

/* putpmsg(2): MSG_HIPRI is what RS_HIPRI is to putmsg() */
ST_ANY_CASE(getmsg_retrieves_what_putpmsg_sent_with_high_priority)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], "ctl", "data", 0, MSG_HIPRI), 0);
	T_EQ(st_get(fd[1], &m, RS_HIPRI), 0);
	ST_IS(&m, "ctl", "data");
	T_EQ(m.flags, RS_HIPRI);
}

/* getmsg(2): a banded message is not high-priority */
ST_ANY_CASE(getmsg_retrieves_a_banded_message_as_normal)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], "ctl", "data", 255, MSG_BAND), 0);
	T_EQ(st_get(fd[1], &m, 0), 0);
	ST_IS(&m, "ctl", "data");
	T_EQ(m.flags, 0);
}

/* putpmsg(2): higher bands are queued before lower ones */
ST_ANY_CASE(higher_bands_overtake_lower_ones)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "low", 0, MSG_BAND), 0);
	T_EQ(st_putp(fd[0], NULL, "high", 7, MSG_BAND), 0);
	T_EQ(st_putp(fd[0], NULL, "mid", 3, MSG_BAND), 0);
	ST_GOT(fd[1], NULL, "high");
	ST_GOT(fd[1], NULL, "mid");
	ST_GOT(fd[1], NULL, "low");
}

/* putq(9): first in, first out within a band */
ST_ANY_CASE(messages_of_one_band_keep_their_order)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "a1", 1, MSG_BAND), 0);
	T_EQ(st_putp(fd[0], NULL, "b1", 2, MSG_BAND), 0);
	T_EQ(st_putp(fd[0], NULL, "a2", 1, MSG_BAND), 0);
	T_EQ(st_putp(fd[0], NULL, "b2", 2, MSG_BAND), 0);
	T_EQ(st_putp(fd[0], NULL, "a3", 1, MSG_BAND), 0);
	ST_GOT(fd[1], NULL, "b1");
	ST_GOT(fd[1], NULL, "b2");
	ST_GOT(fd[1], NULL, "a1");
	ST_GOT(fd[1], NULL, "a2");
	ST_GOT(fd[1], NULL, "a3");
}

/* getpmsg(2): high priority comes before every band */
ST_ANY_CASE(high_priority_overtakes_band_255)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "band", 255, MSG_BAND), 0);
	T_EQ(st_putp(fd[0], "high", NULL, 0, MSG_HIPRI), 0);
	ST_GOT(fd[1], "high", NULL);
	ST_GOT(fd[1], NULL, "band");
}

/* putpmsg(2): band is 0 to 255 */
ST_ANY_CASE(there_are_256_bands)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	for (int b = 0; b < 256; b++)
		T_EQ(st_putn(fd[0], (b * 77) % 256, 1, (b * 77) % 256), 0);
	T_EQ(st_queued(fd[1]), 256);
	for (int b = 255; b >= 0; b--) {
		T_EQ(st_getp(fd[1], &m, 0, MSG_ANY), 0);
		T_EQ(m.band, b);
		T_EQ(m.data_len, 1);
		T_EQ((unsigned char)m.data[0], b);
	}
}

/* getpmsg(2): MSG_BAND takes a message of "a band at least" *bandp */
ST_ANY_CASE(getpmsg_of_a_band_takes_a_higher_one)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "four", 4, MSG_BAND), 0);
	T_EQ(st_getp(fd[1], &m, 3, MSG_BAND), 0);
	ST_IS(&m, NULL, "four");
	T_EQ(m.band, 4);
}

/* getpmsg(2): and of exactly that band */
ST_ANY_CASE(getpmsg_of_a_band_takes_that_band)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "four", 4, MSG_BAND), 0);
	T_EQ(st_getp(fd[1], &m, 4, MSG_BAND), 0);
	ST_IS(&m, NULL, "four");
}

/* getpmsg(2): but not of a lower one */
ST_ANY_CASE(getpmsg_of_a_band_leaves_a_lower_one)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	st_nonblock(fd[1]);
	T_EQ(st_putp(fd[0], NULL, "four", 4, MSG_BAND), 0);
	T_ERR(st_getp(fd[1], &m, 5, MSG_BAND), EAGAIN);
	ST_GOT(fd[1], NULL, "four");
}

/* getpmsg(2): MSG_BAND takes a high-priority message too */
ST_ANY_CASE(getpmsg_of_a_band_takes_high_priority)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], "high", NULL, 0, MSG_HIPRI), 0);
	T_EQ(st_getp(fd[1], &m, 200, MSG_BAND), 0);
	ST_IS(&m, "high", NULL);
	T_EQ(m.flags, MSG_HIPRI);
}

/* getpmsg(2): MSG_BAND with band 0 takes whatever comes first */
ST_ANY_CASE(getpmsg_of_band_zero_takes_any)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "zero", 0, MSG_BAND), 0);
	T_EQ(st_getp(fd[1], &m, 0, MSG_BAND), 0);
	ST_IS(&m, NULL, "zero");
}

/* getpmsg(2): MSG_HIPRI takes only high priority */
ST_ANY_CASE(getpmsg_for_high_priority_leaves_bands)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	st_nonblock(fd[1]);
	T_EQ(st_putp(fd[0], "band", NULL, 255, MSG_BAND), 0);
	T_ERR(st_getp(fd[1], &m, 0, MSG_HIPRI), EAGAIN);
	T_EQ(st_putp(fd[0], "high", NULL, 0, MSG_HIPRI), 0);
	T_EQ(st_getp(fd[1], &m, 0, MSG_HIPRI), 0);
	ST_IS(&m, "high", NULL);
	ST_GOT(fd[1], "band", NULL);
}

/* getpmsg(2): a call for a band waits until one is there */
ST_ANY_CASE(getpmsg_of_a_band_waits_past_lower_ones)
{
	struct st_msg m;
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "one", 1, MSG_BAND), 0);
	pid = st_fork();
	if (pid == 0) {
		T_EQ(st_getp(fd[1], &m, 2, MSG_BAND), 0);
		ST_IS(&m, NULL, "two");
		_exit(0);
	}
	st_wait_asleep(pid);
	T_EQ(st_putp(fd[0], NULL, "two", 2, MSG_BAND), 0);
	st_reap(pid);
	ST_GOT(fd[1], NULL, "one");
}

/* getpmsg(2): a rest stays in its band */
ST_ANY_CASE(the_rest_of_a_message_stays_in_its_band)
{
	struct strbuf d = { 4, 0, (char[4]){ 0 } };
	int fd[2], band = 0, flags = MSG_ANY;
	struct st_msg m;

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "01234567", 6, MSG_BAND), 0);
	T_EQ(getpmsg(fd[1], NULL, &d, &band, &flags), MOREDATA);
	T_EQ(band, 6);
	T_EQ(st_putp(fd[0], NULL, "five", 5, MSG_BAND), 0);
	T_EQ(st_putp(fd[0], NULL, "other six", 6, MSG_BAND), 0);
	T_EQ(st_getp(fd[1], &m, 0, MSG_ANY), 0);
	ST_IS(&m, NULL, "4567");
	T_EQ(m.band, 6);
	ST_GOT(fd[1], NULL, "other six");
	ST_GOT(fd[1], NULL, "five");
}

/* streamio(7I) FIONREAD: the bytes of all waiting messages, not only of band 0 */
ST_ANY_CASE(FIONREAD_counts_every_band)
{
	int fd[2], bytes = -1;

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "one", 1, MSG_BAND), 0);
	T_EQ(ioctl(fd[1], FIONREAD, &bytes), 0);
	T_EQ(bytes, 3);
	T_EQ(st_putp(fd[0], NULL, "seven", 7, MSG_BAND), 0);
	ST_WRITES(fd[0], "zero");
	T_EQ(ioctl(fd[1], FIONREAD, &bytes), 0);
	T_EQ(bytes, 12);
}

/* putpmsg(2): with MSG_BAND and no part nothing is sent */
ST_ANY_CASE(putpmsg_of_no_part_sends_nothing)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, NULL, 0, MSG_BAND), 0);
	T_EQ(st_putp(fd[0], NULL, NULL, 9, MSG_BAND), 0);
	T_EQ(st_queued(fd[1]), 0);
}

/* putpmsg(2): zero-length parts in a band */
ST_ANY_CASE(a_banded_message_may_be_empty)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], "", "", 12, MSG_BAND), 0);
	T_EQ(st_getp(fd[1], &m, 0, MSG_ANY), 0);
	ST_IS(&m, "", "");
	T_EQ(m.band, 12);
}

/* getpmsg(2): getmsg() after a hang-up; flags and band are of no message */
ST_CASE(getpmsg_after_a_hang_up_returns_empty_parts)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], NULL, "last", 3, MSG_BAND), 0);
	T_OK(close(fd[0]));
	ST_GOT(fd[1], NULL, "last");
	T_EQ(st_getp(fd[1], &m, 0, MSG_ANY), 0);
	T_EQ(m.ctl_len, 0);
	T_EQ(m.data_len, 0);
}

/* read(2) takes the highest band first */
ST_ANY_CASE(read_takes_the_highest_band_first)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[1], I_SRDOPT, RMSGN));
	ST_WRITES(fd[0], "normal");
	T_EQ(st_putp(fd[0], NULL, "banded", 1, MSG_BAND), 0);
	ST_READS(fd[1], 100, "banded");
	ST_READS(fd[1], 100, "normal");
}

/* Bands survive modules on both ends. */
ST_ANY_CASE(bands_pass_through_modules)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	T_OK(ioctl(fd[1], I_PUSH, "srvmod"));
	for (int b = 0; b < 8; b++)
		T_EQ(st_putn(fd[0], b, 3, b), 0);
	T_SOON(st_queued(fd[1]) == 8, 2000);
	for (int b = 7; b >= 0; b--) {
		T_EQ(st_getp(fd[1], &m, 0, MSG_ANY), 0);
		T_EQ(m.band, b);
		T_EQ(m.data[0], b);
	}
}
