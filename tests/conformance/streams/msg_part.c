/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * getmsg() that takes the parts of a message in pieces or leaves them: getmsg(2),
 * and POSIX getmsg().
 */
#include "st.h"

/* getmsg(2): a rest "is left on the queue" and MORECTL is returned */
ST_ANY_CASE(a_long_control_part_comes_in_pieces)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "0123456789", NULL, 0), 0);
	T_EQ(st_get_room(fd[1], &m, 4, ST_ROOM, 0), MORECTL);
	ST_IS(&m, "0123", NULL);
	T_EQ(st_get_room(fd[1], &m, 4, ST_ROOM, 0), MORECTL);
	ST_IS(&m, "4567", NULL);
	T_EQ(st_get_room(fd[1], &m, 4, ST_ROOM, 0), 0);
	ST_IS(&m, "89", NULL);
}

/* getmsg(2): MOREDATA likewise; the rest has no control part */
ST_ANY_CASE(a_long_data_part_comes_in_pieces)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "c", "0123456789", 0), 0);
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, 6, 0), MOREDATA);
	ST_IS(&m, "c", "012345");
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, 6, 0), 0);
	ST_IS(&m, NULL, "6789");
}

/* getmsg(2): MORECTL|MOREDATA "indicates that both types remain" */
ST_ANY_CASE(both_parts_may_have_a_rest)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "control", "datadata", 0), 0);
	T_EQ(st_get_room(fd[1], &m, 3, 4, 0), MORECTL | MOREDATA);
	ST_IS(&m, "con", "data");
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, ST_ROOM, 0), 0);
	ST_IS(&m, "trol", "data");
}

/* getmsg(2): an exact fit leaves no rest */
ST_ANY_CASE(an_exact_fit_is_a_whole_message)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_EQ(st_get_room(fd[1], &m, 3, 4, 0), 0);
	ST_IS(&m, "ctl", "data");
	T_EQ(st_queued(fd[1]), 0);
}

/* getmsg(2): with a NULL ctlptr the control part is left on the queue */
ST_ANY_CASE(a_null_ctlptr_leaves_the_control_part)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_EQ(st_get_room(fd[1], &m, -2, ST_ROOM, 0), MORECTL);
	ST_IS(&m, NULL, "data");
	ST_GOT(fd[1], "ctl", NULL);
}

/* getmsg(2): also when it has no bytes */
ST_ANY_CASE(an_empty_control_part_may_be_left_on_the_stream)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "", "data", 0), 0);
	T_EQ(st_get_room(fd[1], &m, -1, ST_ROOM, 0), MORECTL);
	ST_IS(&m, NULL, "data");
	ST_GOT(fd[1], "", NULL);
	T_EQ(st_queued(fd[1]), 0);
}

/* getmsg(2): and the data part, when it has no bytes */
ST_ANY_CASE(an_empty_data_part_may_be_left_on_the_stream)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "", 0), 0);
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, -1, 0), MOREDATA);
	ST_IS(&m, "ctl", NULL);
	ST_GOT(fd[1], NULL, "");
	T_EQ(st_queued(fd[1]), 0);
}

/* getmsg(2): parts may be taken in pieces and in any order */
ST_ANY_CASE(the_parts_of_a_message_may_be_taken_in_pieces)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "control", "datadata", 0), 0);
	T_EQ(st_get_room(fd[1], &m, -1, 3, 0), MORECTL | MOREDATA);
	ST_IS(&m, NULL, "dat");
	T_EQ(st_get_room(fd[1], &m, 3, -1, 0), MORECTL | MOREDATA);
	ST_IS(&m, "con", NULL);
	T_EQ(st_get_room(fd[1], &m, 2, 2, 0), MORECTL | MOREDATA);
	ST_IS(&m, "tr", "ad");
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, 1, 0), MOREDATA);
	ST_IS(&m, "ol", "a");
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, ST_ROOM, 0), 0);
	ST_IS(&m, NULL, "ta");
}

/* getmsg(2): the same for a message in a band, which waits elsewhere */
ST_ANY_CASE(the_parts_of_a_banded_message_may_be_taken_in_pieces)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_putp(fd[0], "control", "data", 2, MSG_BAND), 0);
	T_EQ(st_get_room(fd[1], &m, -1, 1, 0), MORECTL | MOREDATA);
	ST_IS(&m, NULL, "d");
	T_EQ(st_get_room(fd[1], &m, -1, ST_ROOM, 0), MORECTL);
	ST_IS(&m, NULL, "ata");
	ST_GOT(fd[1], "control", NULL);
}

/* getmsg(2): the same for one that came through a module */
ST_ANY_CASE(the_parts_of_a_message_from_a_module_may_be_taken_in_pieces)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	T_EQ(st_put(fd[0], "control", "data", 0), 0);
	T_EQ(st_get_room(fd[1], &m, -1, 1, 0), MORECTL | MOREDATA);
	ST_IS(&m, NULL, "d");
	T_EQ(st_get_room(fd[1], &m, 4, ST_ROOM, 0), MORECTL);
	ST_IS(&m, "cont", "ata");
	ST_GOT(fd[1], "rol", NULL);
}

/* getmsg(2): with a NULL dataptr the data part is left on the queue */
ST_ANY_CASE(a_null_dataptr_leaves_the_data_part)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, -2, 0), MOREDATA);
	ST_IS(&m, "ctl", NULL);
	ST_GOT(fd[1], NULL, "data");
}

/* getmsg(2): maxlen -1 is as a null pointer, and len is set to -1 */
ST_ANY_CASE(maxlen_minus_one_leaves_the_control_part)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_EQ(st_get_room(fd[1], &m, -1, ST_ROOM, 0), MORECTL);
	ST_IS(&m, NULL, "data");
	ST_GOT(fd[1], "ctl", NULL);
}

/* getmsg(2): the same for the data part */
ST_ANY_CASE(maxlen_minus_one_leaves_the_data_part)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, -1, 0), MOREDATA);
	ST_IS(&m, "ctl", NULL);
	ST_GOT(fd[1], NULL, "data");
}

/* getmsg(2): both left, both reported */
ST_ANY_CASE(getmsg_without_room_only_tells_what_is_there)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_EQ(st_get_room(fd[1], &m, -2, -2, 0), MORECTL | MOREDATA);
	T_EQ(st_get_room(fd[1], &m, -1, -1, 0), MORECTL | MOREDATA);
	ST_GOT(fd[1], "ctl", "data");
}

/* getmsg(2): maxlen 0 and more than 0 bytes: the part stays, len is 0 */
ST_ANY_CASE(maxlen_zero_leaves_a_control_part_with_bytes)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_EQ(st_get_room(fd[1], &m, 0, ST_ROOM, 0), MORECTL);
	ST_IS(&m, "", "data");
	ST_GOT(fd[1], "ctl", NULL);
}

/* getmsg(2): the same for the data part */
ST_ANY_CASE(maxlen_zero_leaves_a_data_part_with_bytes)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", 0), 0);
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, 0, 0), MOREDATA);
	ST_IS(&m, "ctl", "");
	ST_GOT(fd[1], NULL, "data");
}

/* getmsg(2): maxlen 0 and a part of 0 bytes: the part is removed */
ST_ANY_CASE(maxlen_zero_takes_an_empty_control_part)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "", "data", 0), 0);
	T_EQ(st_get_room(fd[1], &m, 0, ST_ROOM, 0), 0);
	ST_IS(&m, "", "data");
	T_EQ(st_queued(fd[1]), 0);
}

/* getmsg(2): the same for the data part */
ST_ANY_CASE(maxlen_zero_takes_an_empty_data_part)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "", 0), 0);
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, 0, 0), 0);
	ST_IS(&m, "ctl", "");
	T_EQ(st_queued(fd[1]), 0);
}

/* getmsg(2): what is left of a high-priority message stays one */
ST_ANY_CASE(the_rest_of_a_high_priority_message_is_high_priority)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "0123456789", NULL, RS_HIPRI), 0);
	T_EQ(st_get_room(fd[1], &m, 4, ST_ROOM, RS_HIPRI), MORECTL);
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, ST_ROOM, RS_HIPRI), 0);
	ST_IS(&m, "456789", NULL);
	T_EQ(m.flags, RS_HIPRI);
}

/* getmsg(2): the data of a high-priority message can be fetched after it */
ST_ANY_CASE(the_data_of_a_high_priority_message_may_be_fetched_later)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], "ctl", "data", RS_HIPRI), 0);
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, -1, 0), MOREDATA);
	ST_IS(&m, "ctl", NULL);
	T_EQ(m.flags, RS_HIPRI);
	ST_GOT(fd[1], NULL, "data");
}

/* getmsg(2): a higher message is returned before the rest of a lower one */
ST_ANY_CASE(a_higher_message_comes_before_the_rest_of_a_lower_one)
{
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(st_put(fd[0], NULL, "0123456789", 0), 0);
	T_EQ(st_get_room(fd[1], &m, ST_ROOM, 5, 0), MOREDATA);
	T_EQ(st_putp(fd[0], NULL, "band", 3, MSG_BAND), 0);
	T_EQ(st_put(fd[0], "high", NULL, RS_HIPRI), 0);
	ST_GOT(fd[1], "high", NULL);
	ST_GOT(fd[1], NULL, "band");
	ST_GOT(fd[1], NULL, "56789");
}
