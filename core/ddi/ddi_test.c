/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * kmem_alloc, drv_getparm, cmn_err and the small functions of <sys/ddi.h>.
 */
#include <unistd.h>
#include <sys/sysmacros.h>
#include "fixture.h"
#include <sys/cmn_err.h>
#include <sys/kmem.h>
#include <sys/ddi.h>

T_CASE(kmem_gives_memory_of_its_own)
{
	static const size_t size[] = {1, 8, 63, 64, 100, 1000, 4096, 70000};
	unsigned char *p[STR_ARRAY_LEN(size)];
	unsigned i, j;

	fx_begin(t);
	for (i = 0; i < STR_ARRAY_LEN(size); i++) {
		p[i] = kmem_alloc(size[i], KM_NOSLEEP);
		T_NOTNULL(p[i]);
		T_EQ((uintptr_t)p[i] % 16, 0);
		T_TRUE(str_mem_valid(p[i]));
		memset(p[i], (int)i + 1, size[i]);
	}
	for (i = 0; i < STR_ARRAY_LEN(size); i++) {
		for (j = 0; j < size[i]; j++)
			T_EQ(p[i][j], i + 1);
		kmem_free(p[i], size[i]);
	}
}

T_CASE(kmem_zalloc_clears_used_memory)
{
	unsigned char *p;
	unsigned i;

	fx_begin(t);
	p = kmem_alloc(200, KM_NOSLEEP);
	memset(p, 0xff, 200);
	kmem_free(p, 200);
	p = kmem_zalloc(200, KM_NOSLEEP);
	for (i = 0; i < 200; i++)
		T_EQ(p[i], 0);
	kmem_free(p, 200);
}

T_CASE(kmem_of_nothing_is_null)
{
	fx_begin(t);
	T_NULL(kmem_alloc(0, KM_SLEEP));
	T_NULL(kmem_alloc(0, KM_NOSLEEP));
	kmem_free(NULL, 0);
}

T_CASE(kmem_without_memory_is_null)
{
	fx_begin(t);
	fx_use_up();
	T_NULL(kmem_alloc(100, KM_NOSLEEP));
	T_NULL(kmem_zalloc(100, KM_NOSLEEP));
}

T_CASE(kmem_of_an_absurd_size_is_null)
{
	fx_begin(t);
	T_NULL(kmem_alloc(SIZE_MAX, KM_NOSLEEP));
	T_NULL(kmem_alloc(SIZE_MAX - 63, KM_NOSLEEP));
	T_NULL(kmem_alloc((size_t)1 << 40, KM_NOSLEEP));
}

T_CASE(ticks_round_up_and_never_overflow)
{
	static const struct {
		long usec, ticks;
	} row[] = {
		{0, 0}, {1, 1}, {9999, 1}, {10000, 1}, {10001, 2},
		{1000000, HZ}, {LONG_MAX, LONG_MAX / 10000 + 1},
	};
	unsigned i;

	fx_begin(t);
	for (i = 0; i < STR_ARRAY_LEN(row); i++)
		T_EQ(drv_usectohz(row[i].usec), row[i].ticks);
	T_EQ(drv_hztousec(HZ), 1000000);
	T_EQ(drv_hztousec(LONG_MAX), LONG_MAX);
	T_EQ(drv_msectohz(1), 1);
	T_EQ(drv_msectohz(1000), HZ);
	T_EQ(drv_hztomsec(HZ), 1000);
	T_EQ(drv_hztomsec(ULONG_MAX), ULONG_MAX);
}

T_CASE(lbolt_counts_ticks)
{
	unsigned long a, b;

	fx_begin(t);
	T_EQ(drv_getparm(LBOLT, &a), 0);
	sim_sleep(1000000000u);
	T_EQ(drv_getparm(LBOLT, &b), 0);
	T_GE(b - a, HZ);
	T_LE(b - a, HZ + 1);
}

T_CASE(other_parameters_are_refused)
{
	unsigned long v = 7;

	fx_begin(t);
	T_EQ(drv_getparm(999, &v), -1);
	T_EQ(v, 7);
	T_EQ(drv_getparm(PPID, &v), 0);
	T_EQ(v, 1000);
	T_EQ(drv_priv(NULL), EPERM);
}

T_CASE(device_numbers_are_those_of_the_c_library)
{
	static const struct {
		unsigned maj, min;
	} row[] = {
		{0, 0}, {1, 2}, {230, 255}, {230, 256}, {4095, 1048575},
		{4096, 70000}, {0xffffffffu, 0xffffffffu},
	};
	unsigned i;

	fx_begin(t);
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		dev_t d = makedevice(row[i].maj, row[i].min);

		T_EQ(d, makedev(row[i].maj, row[i].min));
		T_EQ(getmajor(d), row[i].maj);
		T_EQ(getminor(d), row[i].min);
	}
}

T_CASE(bytes_and_numbers)
{
	char a[8] = "abcdefg", b[8];

	fx_begin(t);
	bcopy(a, b, 8);
	T_EQ(bcmp(a, b, 8), 0);
	bcopy(a, a + 1, 6); /* they overlap */
	T_STR(a, "aabcdef");
	T_NE(bcmp(a, b, 8), 0);
	bzero(b, 8);
	T_STR(b, "");
	T_EQ(min(3, -4), -4);
	T_EQ(max(3, -4), 3);
}

/* What cmn_err() wrote, from a file that takes the place of stderr. */
static const char *
said(void (*say)(void))
{
	static char buf[1024];
	FILE *f = tmpfile();
	int old = dup(2);
	size_t n;

	T_NOTNULL(f);
	dup2(fileno(f), 2);
	say();
	dup2(old, 2);
	close(old);
	rewind(f);
	n = fread(buf, 1, sizeof(buf) - 1, f);
	buf[n] = '\0';
	fclose(f);
	return buf;
}

static void
say_formats(void)
{
	cmn_err(CE_NOTE, "d=%d u=%u x=%x X=%X o=%o c=%c s=%s l=%ld "
		"w=%5d z=%04x p%%", -7, 7u, 0xbeu, 0xbeu, 8u, 'c', "str",
		123456789012L, 42, 0x1fu);
}

T_CASE(cmn_err_formats)
{
	const char *s;

	fx_begin(t);
	s = said(say_formats);
	if (strstr(s, "d=-7 u=7 x=be X=BE o=10 c=c s=str l=123456789012 "
		"w=   42 z=001f p%") == NULL)
		T_FAIL("it said: %s", s);
}

static void
say_bang(void)
{
	cmn_err(CE_WARN, "!for the log");
}

T_CASE(cmn_err_drops_the_destination)
{
	fx_begin(t);
	T_NULL(strstr(said(say_bang), "!"));
	T_NOTNULL(strstr(said(say_bang), "WARNING: for the log"));
}

static void
say_parts(void)
{
	cmn_err(CE_CONT, "a");
	uprintf("%s", "b");
	cmn_err(CE_CONT, "c\n");
}

/* SVR4 cmn_err(D3): a newline is added except with CE_CONT; uprintf(9F) */
T_CASE(parts_of_a_line_are_one_line)
{
	fx_begin(t);
	T_NOTNULL(strstr(said(say_parts), "abc\n"));
}

static void
say_much(void)
{
	char much[600];

	memset(much, 'm', sizeof(much) - 1);
	much[sizeof(much) - 1] = '\0';
	cmn_err(CE_CONT, "%s", much);
}

T_CASE(cmn_err_cuts_long_lines)
{
	const char *s;

	fx_begin(t);
	s = said(say_much);
	T_NOTNULL(strstr(s, "mmmm"));
	T_LT(strlen(s), 300u);
}

/* SVR4 getmid(D3str), getadmin(D3str): drivers first, then modules. */
T_CASE(getmid_knows_drivers_and_what_was_registered_later)
{
	const struct streamtab *tab;

	fx_begin(t);
	T_EQ(getmid("nosuch"), 0);
	T_EQ(getmid("echo"),
		str_fmod_known("echo", STR_F_DRIVER)->rinfo.mi_idnum);
	tab = &str_fmod_known("nullmod", STR_F_MODULE)->tab;
	T_NOTNULL(str_fmod_new("later", STR_F_MODULE, 0, 0, tab, ""));
	T_EQ(getmid("later"), getmid("nullmod"));
	/* one name for a driver and a module */
	T_NOTNULL(str_fmod_new("echo", STR_F_MODULE, 0, 0, tab, ""));
	T_NE(getmid("echo"), getmid("nullmod"));
}
