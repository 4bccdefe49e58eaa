/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * I_PUSH, I_POP, I_LOOK, I_FIND, I_LIST.  The text is streamio(7I).
 * On a pipe a module belongs to the end it was pushed on.
 */
#include "st.h"

#include <sys/syscall.h>

enum { NSTRPUSH = 64 };	/* reference: modules on one Stream */

static void
look_is(int fd, const char *want)
{
	char name[FMNAMESZ + 1] = "";

	T_EQ(ioctl(fd, I_LOOK, name), 0);
	T_STR(name, want);
}

/* I_PUSH, I_LOOK: "the module just below the stream head" */
ST_ANY_CASE(a_pushed_module_is_seen_by_i_look)
{
	static const char *const names[] = { "nullmod", "pipemod", "srvmod",
		"testmod" };
	int fd[2];

	st_pipe(t, fd);
	for (int i = 0; i < 4; i++) {
		T_EQ(ioctl(fd[0], I_PUSH, names[i]), 0);
		look_is(fd[0], names[i]);
	}
	for (int i = 3; i >= 0; i--) {
		look_is(fd[0], names[i]);
		T_EQ(ioctl(fd[0], I_POP, 0), 0);
	}
	T_ERR(ioctl(fd[0], I_POP, 0), EINVAL);
}

/* I_POP: "the module was pushed on the side it is being removed from" */
ST_CASE(a_module_belongs_to_the_end_it_was_pushed_on)
{
	char name[FMNAMESZ + 1];
	int fd[2];

	st_pipe(t, fd);
	T_EQ(ioctl(fd[0], I_PUSH, "nullmod"), 0);
	T_ERR(ioctl(fd[1], I_LOOK, name), EINVAL);
	T_ERR(ioctl(fd[1], I_POP, 0), EINVAL);
	T_EQ(ioctl(fd[1], I_FIND, "nullmod"), 0);
	T_EQ(ioctl(fd[1], I_LIST, NULL), 0);
	look_is(fd[0], "nullmod");
}

/* I_PUSH: both ends may have modules */
ST_CASE(both_ends_have_their_own_modules)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(ioctl(fd[0], I_PUSH, "nullmod"), 0);
	T_EQ(ioctl(fd[1], I_PUSH, "srvmod"), 0);
	look_is(fd[0], "nullmod");
	look_is(fd[1], "srvmod");
	ST_WRITES(fd[0], "there");
	ST_READS(fd[1], 100, "there");
	ST_WRITES(fd[1], "back");
	ST_READS(fd[0], 100, "back");
}

/* I_FIND: "1 if the named module is present", "0 if ... not present" */
ST_ANY_CASE(i_find_finds_any_module_of_the_stream)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(ioctl(fd[0], I_FIND, "nullmod"), 0);
	T_EQ(ioctl(fd[0], I_PUSH, "nullmod"), 0);
	T_EQ(ioctl(fd[0], I_PUSH, "srvmod"), 0);
	T_EQ(ioctl(fd[0], I_PUSH, "pipemod"), 0);
	T_EQ(ioctl(fd[0], I_FIND, "nullmod"), 1);
	T_EQ(ioctl(fd[0], I_FIND, "srvmod"), 1);
	T_EQ(ioctl(fd[0], I_FIND, "pipemod"), 1);
	T_EQ(ioctl(fd[0], I_FIND, "testmod"), 0);
	T_EQ(ioctl(fd[0], I_POP, 0), 0);
	T_EQ(ioctl(fd[0], I_FIND, "pipemod"), 0);
}

/* I_LIST with NULL: "the number of modules"; a pipe has no driver */
ST_CASE(i_list_without_a_list_counts)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(ioctl(fd[0], I_LIST, NULL), 0);
	T_EQ(ioctl(fd[0], I_PUSH, "nullmod"), 0);
	T_EQ(ioctl(fd[0], I_LIST, NULL), 1);
	T_EQ(ioctl(fd[0], I_PUSH, "srvmod"), 0);
	T_EQ(ioctl(fd[0], I_LIST, NULL), 2);
}

static int
list(int fd, struct str_mlist *names, int n, int *filled)
{
	struct str_list sl = { n, names };
	int r;

	memset(names, 'x', (size_t)(n > 0 ? n : 0) * sizeof *names);
	r = ioctl(fd, I_LIST, &sl);
	*filled = sl.sl_nmods;
	return r;
}

/* I_LIST: names from the top; sl_nmods tells how many were filled */
ST_CASE(i_list_names_the_topmost_module_first)
{
	struct str_mlist l[5];
	int fd[2], n;

	st_pipe(t, fd);
	T_EQ(ioctl(fd[0], I_PUSH, "nullmod"), 0);
	T_EQ(ioctl(fd[0], I_PUSH, "srvmod"), 0);
	T_EQ(ioctl(fd[0], I_PUSH, "pipemod"), 0);
	T_EQ(list(fd[0], l, 5, &n), 0);
	T_EQ(n, 3);
	T_STR(l[0].l_name, "pipemod");
	T_STR(l[1].l_name, "srvmod");
	T_STR(l[2].l_name, "nullmod");
	T_EQ(l[3].l_name[0], 'x');
}

/* I_LIST: a short list gets the topmost names only */
ST_ANY_CASE(i_list_fills_no_more_than_its_room)
{
	struct str_mlist l[3];
	int fd[2], n;

	st_pipe(t, fd);
	T_EQ(ioctl(fd[0], I_PUSH, "nullmod"), 0);
	T_EQ(ioctl(fd[0], I_PUSH, "srvmod"), 0);
	T_EQ(ioctl(fd[0], I_PUSH, "pipemod"), 0);
	l[2].l_name[0] = 'z';
	T_EQ(list(fd[0], l, 2, &n), 0);
	T_EQ(n, 2);
	T_STR(l[0].l_name, "pipemod");
	T_STR(l[1].l_name, "srvmod");
	T_EQ(l[2].l_name[0], 'z');
}

/* I_LIST: of a bare pipe there is nothing to name */
ST_CASE(i_list_of_a_bare_pipe_is_empty)
{
	struct str_mlist l[2];
	int fd[2], n;

	st_pipe(t, fd);
	T_EQ(list(fd[0], l, 2, &n), 0);
	T_EQ(n, 0);
}

/* I_LIST: "EINVAL The sl_nmods member is less than 1" */
ST_ANY_CASE(i_list_needs_room_for_a_name)
{
	struct str_mlist l[1];
	int fd[2], n;

	st_pipe(t, fd);
	T_EQ(ioctl(fd[0], I_PUSH, "nullmod"), 0);
	T_ERR(list(fd[0], l, 0, &n), EINVAL);
	T_ERR(list(fd[0], l, -1, &n), EINVAL);
}

/* Reference: 64 modules, beyond: EINVAL */
ST_CASE(a_stream_takes_64_modules)
{
	int fd[2];

	st_pipe(t, fd);
	for (int i = 0; i < NSTRPUSH; i++)
		T_EQ(ioctl(fd[0], I_PUSH, i % 2 ? "nullmod" : "pipemod"), 0);
	T_ERR(ioctl(fd[0], I_PUSH, "nullmod"), EINVAL);
	T_EQ(ioctl(fd[0], I_LIST, NULL), NSTRPUSH);
	T_EQ(ioctl(fd[1], I_PUSH, "nullmod"), 0);
	ST_WRITES(fd[0], "all the way");
	ST_READS(fd[1], 100, "all the way");
	ST_WRITES(fd[1], "and back");
	ST_READS(fd[0], 100, "and back");
	for (int i = NSTRPUSH - 1; i >= 0; i--) {
		look_is(fd[0], i % 2 ? "nullmod" : "pipemod");
		T_EQ(ioctl(fd[0], I_POP, 0), 0);
	}
	T_ERR(ioctl(fd[0], I_POP, 0), EINVAL);
	T_EQ(ioctl(fd[0], I_PUSH, "nullmod"), 0);
}

/* I_PUSH: "EINVAL Invalid module name"; the Stream is unchanged */
ST_CASE(i_push_refuses_bad_names)
{
	static char long_name[4096];
	int fd[2];

	memset(long_name, 'n', sizeof long_name - 1);
	st_pipe(t, fd);
	T_ERR(ioctl(fd[0], I_PUSH, "nosuchmd"), EINVAL);
	T_ERR(ioctl(fd[0], I_PUSH, ""), EINVAL);
	T_ERR(ioctl(fd[0], I_PUSH, "nullmodxx"), EINVAL);
	T_ERR(ioctl(fd[0], I_PUSH, "nullmod "), EINVAL);
	T_ERR(ioctl(fd[0], I_PUSH, "nullmo"), EINVAL);
	T_ERR(ioctl(fd[0], I_PUSH, long_name), EINVAL);
	T_EQ(ioctl(fd[0], I_LIST, NULL), 0);
}

/* I_PUSH: a name at the very end of readable memory */
ST_ANY_CASE(i_push_reads_a_name_no_further_than_its_end)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(ioctl(fd[0], I_PUSH, st_edge("nullmod", 8)), 0);
	T_ERR(ioctl(fd[0], I_PUSH, st_edge("nullmod", 7)), EFAULT);
	look_is(fd[0], "nullmod");
}

/* I_FIND: "EINVAL arg does not contain a valid module name" */
ST_ANY_CASE(i_find_refuses_names_that_cannot_be)
{
	static char long_name[4096];
	int fd[2];

	memset(long_name, 'n', sizeof long_name - 1);
	st_pipe(t, fd);
	T_ERR(ioctl(fd[0], I_FIND, ""), EINVAL);
	T_ERR(ioctl(fd[0], I_FIND, "ninechars"), EINVAL);
	T_ERR(ioctl(fd[0], I_FIND, long_name), EINVAL);
	T_ERR(ioctl(fd[0], I_FIND, "nosuchmd"), EINVAL);
}

/* I_LOOK writes a null-terminated name and nothing behind it */
ST_ANY_CASE(i_look_stores_at_most_nine_bytes)
{
	char name[32];
	int fd[2];

	st_pipe(t, fd);
	T_EQ(ioctl(fd[0], I_PUSH, "srvmod"), 0);
	memset(name, 'x', sizeof name);
	T_EQ(ioctl(fd[0], I_LOOK, name), 0);
	T_STR(name, "srvmod");
	for (size_t i = FMNAMESZ + 1; i < sizeof name; i++)
		T_EQ(name[i], 'x');
}

/* I_PUSH: "ENXIO Hangup received on fildes" */
ST_CASE(nothing_can_be_pushed_on_a_hung_up_end)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(close(fd[1]));
	T_ERR(ioctl(fd[0], I_PUSH, "nullmod"), ENXIO);
}

/* I_PUSH: data that waits already is not lost and comes first */
ST_CASE(a_push_does_not_disturb_what_waits)
{
	static const char *const names[] = { "nullmod", "pipemod", "srvmod",
		"testmod" };
	int fd[2];

	st_pipe(t, fd);
	for (int i = 0; i < 4; i++) {
		T_EQ(st_put(fd[0], "before", "1", 0), 0);
		T_EQ(st_put(fd[1], "before", "2", 0), 0);
		T_EQ(ioctl(fd[0], I_PUSH, names[i]), 0);
		T_EQ(ioctl(fd[1], I_PUSH, names[i]), 0);
		T_EQ(st_put(fd[0], "after", "1", 0), 0);
		T_EQ(st_put(fd[1], "after", "2", 0), 0);
		ST_GOT(fd[1], "before", "1");
		ST_GOT(fd[1], "after", "1");
		ST_GOT(fd[0], "before", "2");
		ST_GOT(fd[0], "after", "2");
	}
}

/* I_POP: the same */
ST_ANY_CASE(a_pop_does_not_disturb_what_waits)
{
	int fd[2];

	st_pipe(t, fd);
	T_EQ(ioctl(fd[1], I_PUSH, "nullmod"), 0);
	T_EQ(st_put(fd[0], "one", NULL, 0), 0);
	T_EQ(ioctl(fd[1], I_POP, 0), 0);
	T_EQ(st_put(fd[0], "two", NULL, 0), 0);
	ST_GOT(fd[1], "one", NULL);
	ST_GOT(fd[1], "two", NULL);
}

/* Every module passes every kind of message. */
ST_ANY_CASE(each_module_passes_all_kinds_of_messages)
{
	static const char *const names[] = { "nullmod", "pipemod", "srvmod",
		"testmod" };
	struct st_msg m;
	int fd[2];

	st_pipe(t, fd);
	for (int i = 0; i < 4; i++) {
		T_EQ(ioctl(fd[0], I_PUSH, names[i]), 0);
		for (int dir = 0; dir < 2; dir++) {
			int out = fd[dir], in = fd[!dir];

			T_EQ(st_put(out, "c", "d", 0), 0);
			ST_GOT(in, "c", "d");
			T_EQ(st_put(out, NULL, "d", 0), 0);
			ST_GOT(in, NULL, "d");
			T_EQ(st_put(out, "", NULL, 0), 0);
			ST_GOT(in, "", NULL);
			T_EQ(st_put(out, "high", NULL, RS_HIPRI), 0);
			T_EQ(st_get(in, &m, 0), 0);
			ST_IS(&m, "high", NULL);
			T_EQ(m.flags, RS_HIPRI);
			T_EQ(st_putp(out, NULL, "band", 77, MSG_BAND), 0);
			T_EQ(st_getp(in, &m, 0, MSG_ANY), 0);
			ST_IS(&m, NULL, "band");
			T_EQ(m.band, 77);
		}
		T_EQ(ioctl(fd[0], I_POP, 0), 0);
	}
}

/* I_PUSH while a reader sleeps on the Stream */
ST_ANY_CASE(a_module_may_be_pushed_under_a_waiting_reader)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0) {
		ST_READS(fd[1], 100, "via");
		_exit(0);
	}
	st_wait_asleep(pid);
	T_EQ(ioctl(fd[1], I_PUSH, "srvmod"), 0);
	T_EQ(ioctl(fd[0], I_PUSH, "nullmod"), 0);
	ST_WRITES(fd[0], "via");
	st_reap(pid);
}

/* I_POP while a reader sleeps on the Stream */
ST_ANY_CASE(a_module_may_be_popped_under_a_waiting_reader)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	T_EQ(ioctl(fd[1], I_PUSH, "nullmod"), 0);
	pid = st_fork();
	if (pid == 0) {
		ST_READS(fd[1], 100, "direct");
		_exit(0);
	}
	st_wait_asleep(pid);
	T_EQ(ioctl(fd[1], I_POP, 0), 0);
	ST_WRITES(fd[0], "direct");
	st_reap(pid);
}

/* A Stream is one for all who hold it: another process pushes and pops. */
ST_CASE(another_process_may_push_and_pop)
{
	int fd[2];
	pid_t pid;

	st_pipe(t, fd);
	pid = st_fork();
	if (pid == 0) {
		T_EQ(ioctl(fd[0], I_PUSH, "nullmod"), 0);
		T_EQ(ioctl(fd[0], I_PUSH, "srvmod"), 0);
		_exit(0);
	}
	st_reap(pid);
	look_is(fd[0], "srvmod");
	T_EQ(ioctl(fd[0], I_LIST, NULL), 2);
	ST_WRITES(fd[0], "x");
	ST_READS(fd[1], 10, "x");
	pid = st_fork();
	if (pid == 0) {
		T_EQ(ioctl(fd[0], I_POP, 0), 0);
		_exit(0);
	}
	st_reap(pid);
	look_is(fd[0], "nullmod");
}

/* close(2): the last close pops what is left, with data inside */
ST_CASE(closing_pops_the_modules)
{
	char c;
	int fd[2];

	st_pipe(t, fd);
	T_EQ(ioctl(fd[0], I_PUSH, "nullmod"), 0);
	T_EQ(ioctl(fd[0], I_PUSH, "srvmod"), 0);
	ST_WRITES(fd[0], "x");
	ST_READS(fd[1], 1, "x");
	ST_WRITES(fd[1], "never read");
	T_OK(close(fd[0]));
	T_EQ(read(fd[1], &c, 1), 0);
}

/* I_PUSH, I_POP many times leave nothing behind. */
ST_ANY_CASE(pushing_and_popping_can_be_repeated)
{
	int fd[2];

	st_pipe(t, fd);
	for (int i = 0; i < 300; i++) {
		T_EQ(ioctl(fd[i % 2], I_PUSH, i % 3 ? "srvmod" : "nullmod"), 0);
		ST_WRITES(fd[0], "x");
		ST_READS(fd[1], 1, "x");
		T_EQ(ioctl(fd[i % 2], I_POP, 0), 0);
	}
}

/* By the kernel, not by the library, which would leave the domain. */
static void
not_root(void)
{
	T_OK(syscall(SYS_setresuid, -1, 65534, -1));
}

/* I_ANCHOR: what is below the anchor stays, what is above may go */
ST_ANY_CASE(an_anchor_holds_what_is_below_it)
{
	int fd[2];

	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	T_OK(ioctl(fd[0], I_ANCHOR, 0));
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	if (geteuid() == 0)
		not_root();
	T_OK(ioctl(fd[0], I_POP, 0));
	T_ERR(ioctl(fd[0], I_POP, 0), EPERM);
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_OK(ioctl(fd[0], I_POP, 0));
	T_ERR(ioctl(fd[0], I_POP, 0), EPERM);
}

/* I_ANCHOR: the superuser takes it away with the module */
ST_ANY_CASE(the_superuser_may_pop_an_anchored_module)
{
	int fd[2];

	if (geteuid() != 0)
		T_SKIP("for the superuser");
	st_pipe(t, fd);
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	T_OK(ioctl(fd[0], I_PUSH, "srvmod"));
	T_OK(ioctl(fd[0], I_ANCHOR, 0));
	T_OK(ioctl(fd[0], I_POP, 0));
	T_OK(ioctl(fd[0], I_POP, 0));
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	not_root();
	T_OK(ioctl(fd[0], I_POP, 0));
}
