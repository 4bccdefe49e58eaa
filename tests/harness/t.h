/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The test harness.  docs/testing.md shows it in use.
 *
 *	T_CASE(higher_bands_overtake)
 *	{
 *		T_EQ(putq(q, m), 1);
 *	}
 *
 * A program is any number of cases and no main().  Each case runs in a child
 * process that leads a session of its own, with a deadline; when it is over,
 * whatever it left running is killed.  Output is TAP 13.
 *
 * A check that does not hold ends the process that made it, and fails the
 * case, also when that process is a child or a thread of the case.  (Not when
 * it has called exec: there, let the exit status tell.)
 */
#ifndef TESTS_HARNESS_T_H
#define TESTS_HARNESS_T_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define T_NORETURN __attribute__((noreturn))
#define T_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define T_UNUSED __attribute__((unused))
#define T_CONSTRUCTOR __attribute__((constructor))

struct t {
	const char *name;	/* of the running case, with spaces */
	const char *target;	/* one of T_TARGETS(), else "" */
	uint64_t seed;		/* T_SEED, or chosen at start and printed */
};

struct t_case {
	const char *name;
	void (*run)(struct t *t);
	unsigned int timeout;	/* seconds; 0 is the default, 20 */
	struct t_case *next;
};

#define T_CASE(name_) T_CASE_TIMEOUT(name_, 0)
#define T_CASE_TIMEOUT(name_, seconds_)					\
	static void t_run_##name_(struct t *t);				\
	T_CONSTRUCTOR static void					\
	t_add_##name_(void)						\
	{								\
		static struct t_case c = {				\
			#name_, t_run_##name_, seconds_, NULL		\
		};							\
									\
		t_case_add(&c);						\
	}								\
	static void							\
	t_run_##name_(struct t *t T_UNUSED)

/*
 * One suite, several targets: every case runs once for each, and finds in
 * t->target (or t_target(), from a helper) which.  --target=NAME picks one.
 */
#define T_TARGETS(...)							\
	T_CONSTRUCTOR static void					\
	t_add_targets(void)						\
	{								\
		static const char *const v[] = { __VA_ARGS__, NULL };	\
									\
		t_targets_set(v);					\
	}

/* Both values are printed when the check fails. */
#define T_EQ(a, b) T_CMP_(a, ==, b)
#define T_NE(a, b) T_CMP_(a, !=, b)
#define T_LT(a, b) T_CMP_(a, <, b)
#define T_LE(a, b) T_CMP_(a, <=, b)
#define T_GT(a, b) T_CMP_(a, >, b)
#define T_GE(a, b) T_CMP_(a, >=, b)
#define T_TRUE(e)							\
	((e) ? (void)0 : t_fail(__FILE__, __LINE__, "%s is false", #e))
#define T_FALSE(e)							\
	((e) ? t_fail(__FILE__, __LINE__, "%s is true", #e) : (void)0)
#define T_NULL(p)							\
	t_ptr(__FILE__, __LINE__, #p, (const void *)(p), 1)
#define T_NOTNULL(p)							\
	t_ptr(__FILE__, __LINE__, #p, (const void *)(p), 0)
#define T_STR(a, b) t_str(__FILE__, __LINE__, #a, a, b)
#define T_MEM(a, b, n) t_mem(__FILE__, __LINE__, #a, a, b, n)

/* A call that must not return -1; its value is the value of T_OK(). */
#define T_OK(e) __extension__ ({					\
	(__typeof__(e))t_ok(__FILE__, __LINE__, #e, (long long)(e));	\
})

/* A call that must return -1 with this errno. */
#define T_ERR(e, want) do {						\
	errno = 0;							\
	long long t_r_ = (long long)(e);				\
	t_err(__FILE__, __LINE__, #e, t_r_, errno, want);		\
} while (0)

/*
 * Wait until @e holds, instead of sleeping.  Fail after @ms milliseconds, but
 * not before T_PATIENCE: on a machine that is busy with other tests a step that
 * takes a millisecond may take seconds.
 */
#define T_SOON(e, ms) do {						\
	int t_ms_ = (int)(ms) > T_PATIENCE ? (int)(ms) : T_PATIENCE;	\
	uint64_t t_end_ = t_now_ns() + (uint64_t)t_ms_ * 1000000u;	\
	while (!(e)) {							\
		if (t_now_ns() > t_end_)				\
			t_fail(__FILE__, __LINE__,			\
				"%s is false after %d ms", #e, t_ms_);	\
		t_pause();						\
	}								\
} while (0)
#ifndef T_PATIENCE
#define T_PATIENCE 10000 /* ms */
#endif

/*
 * The same where the time is what is tested.  It counts @ms pauses of a
 * millisecond, so that time in which the machine does not run this process does
 * not count.
 */
#define T_WITHIN(e, ms) do {						\
	int t_ms_ = (int)(ms), t_n_ = 0;				\
	while (!(e)) {							\
		if (t_n_++ >= t_ms_)					\
			t_fail(__FILE__, __LINE__,			\
				"%s is false after %d pauses", #e,	\
				t_ms_);					\
		t_pause();						\
	}								\
} while (0)

#define T_FAIL(...) t_fail(__FILE__, __LINE__, __VA_ARGS__)
#define T_SKIP(...) t_skip(__VA_ARGS__)

/* First in a case: a descriptor open at its end and not now fails it. */
#define T_CHECK_FDS() t_check_fds()

/* Run @fn in the case's process after each case that passed: audits. */
void t_after_each(void (*fn)(struct t *t));

/* Run @fn when the case ends, whatever has become of it: files.  Up to four; the
 * last one runs first. */
void t_at_end(void (*fn)(void));

/* Then remove directory @path with all that is in it. */
void t_remove_at_end(const char *path);

const char *t_target(void);
uint64_t t_rand(void);		/* repeats with T_SEED, for each case alone */
uint64_t t_rand_below(uint64_t n);
uint64_t t_now_ns(void);	/* CLOCK_MONOTONIC */
/*
 * t_file - read a file of /proc into @buf, as a string.  By system calls alone,
 * past the library: what is watched is not changed by it.
 * Return: bytes, 0 if there is no such file.
 */
size_t t_file(const char *path, char *buf, size_t size);
void t_pause(void);		/* 1 ms, for T_SOON() */
/* A port that is free, and is given only to a program that asks for it. */
int t_port(int family, int type);
/* These skip the case where that cannot be had. */
void t_need_raw(void);			/* raw sockets */
void t_need_files(unsigned int n);	/* descriptors below @n */
void t_own_mounts(void);		/* mounts of this case alone */
unsigned int t_scale(void);	/* how much slower sanitizers may be */

void t_case_add(struct t_case *c);
void t_targets_set(const char *const *names);
const char *t_errno_name(int err);
void t_check_fds(void);
void t_fail(const char *file, int line, const char *fmt, ...)
	T_NORETURN T_PRINTF(3, 4);
void t_skip(const char *fmt, ...)
	T_NORETURN T_PRINTF(1, 2);
long long t_ok(const char *file, int line, const char *expr, long long ret);
void t_cmp(const char *file, int line, const char *expr, long long a,
	long long b);
void t_ptr(const char *file, int line, const char *expr, const void *p,
	int want_null);
void t_str(const char *file, int line, const char *expr, const char *a,
	const char *b);
void t_mem(const char *file, int line, const char *expr, const void *a,
	const void *b, size_t n);
void t_err(const char *file, int line, const char *expr, long long ret,
	int err, int want);

#define T_CMP_(a, op, b) do {						\
	__typeof__(a) t_a_ = (a);					\
	__typeof__(b) t_b_ = (b);					\
	if (!(t_a_ op t_b_))						\
		t_cmp(__FILE__, __LINE__, #a " " #op " " #b,		\
			(long long)t_a_, (long long)t_b_);		\
} while (0)

#endif
