/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * RTO (RFC 9260 s6.3.1) and congestion window (s7.2) of a path.
 */
#include <string.h>
#include "t.h"
#include "association.h"

static struct sctp_conf conf;
static struct sctp_path pa;

/* A path with an MTU of 1500: a DATA chunk has up to 1468 bytes. */
#define PMDCS 1468u

static void
begin(void)
{
	memset(&pa, 0, sizeof(pa));
	sctp_conf_default(&conf);
	pa.addr.len = 4;
	pa.mtu = 1500;
	sctp_rto_begin(&conf, &pa);
	sctp_cc_begin(&pa);
}

T_CASE(the_first_measurement_and_the_next)
{
	begin();
	conf.rto_min = 1;
	T_EQ(pa.rto, SCTP_S);
	sctp_rto_measured(&conf, &pa, 800000); /* (C2) */
	T_EQ(pa.srtt, 800000);
	T_EQ(pa.rttvar, 400000);
	T_EQ(pa.rto, 2400000);
	sctp_rto_measured(&conf, &pa, 400000); /* (C3) */
	T_EQ(pa.rttvar, 300000 + 100000);
	T_EQ(pa.srtt, 700000 + 50000);
	T_EQ(pa.rto, 750000 + 4 * 400000);
}

T_CASE(the_rto_has_limits)
{
	begin();
	sctp_rto_measured(&conf, &pa, 10);
	T_EQ(pa.rto, conf.rto_min);
	sctp_rto_measured(&conf, &pa, ~0ull);
	T_EQ(pa.rto, conf.rto_max);
	begin();
	conf.rto_min = 0;
	for (int i = 0; i < 200; i++)
		sctp_rto_measured(&conf, &pa, 0);
	T_GT(pa.rto, 0);
}

T_CASE(the_rto_doubles_up_to_its_maximum)
{
	begin();
	sctp_rto_backoff(&conf, &pa);
	T_EQ(pa.rto, 2 * SCTP_S);
	for (int i = 0; i < 40; i++)
		sctp_rto_backoff(&conf, &pa);
	T_EQ(pa.rto, 60 * SCTP_S);
}

T_CASE(initial_windows)
{
	static const struct {
		uint32_t mtu, cwnd;
	} row[] = {
		/* min(4 PMDCS, max(2 PMDCS, 4404)), s7.2.1 */
		{1500, 4404},
		{600, 4 * (580 - 12)},
		{9000, 2 * (8980 - 12)},
	};

	for (unsigned i = 0; i < 3; i++) {
		begin();
		pa.mtu = row[i].mtu;
		sctp_cc_begin(&pa);
		T_EQ(pa.cwnd, row[i].cwnd);
	}
}

T_CASE(slow_start_grows_by_what_is_acknowledged_if_it_was_used)
{
	begin();
	T_EQ(sctp_cc_chunk(&pa), PMDCS);
	sctp_cc_acked(&pa, 100, 1);
	T_EQ(pa.cwnd, 4504);
	sctp_cc_acked(&pa, 100000, 1); /* at most one PMDCS */
	T_EQ(pa.cwnd, 4504 + PMDCS);
	sctp_cc_acked(&pa, 1000, 0);
	T_EQ(pa.cwnd, 4504 + PMDCS);
}

T_CASE(avoidance_grows_by_a_chunk_for_each_window)
{
	begin();
	pa.cwnd = 10000;
	pa.ssthresh = 5000;
	sctp_cc_acked(&pa, 6000, 1);
	T_EQ(pa.cwnd, 10000);
	T_EQ(pa.pba, 6000);
	sctp_cc_acked(&pa, 6000, 1);
	T_EQ(pa.cwnd, 10000 + PMDCS);
	T_EQ(pa.pba, 2000);
	sctp_cc_acked(&pa, 60000, 0); /* not used: it does not grow */
	T_EQ(pa.cwnd, 10000 + PMDCS);
	T_EQ(pa.pba, pa.cwnd);
}

T_CASE(fast_recovery_halves)
{
	begin();
	pa.cwnd = 20000;
	sctp_cc_fast(&pa, 77);
	T_EQ(pa.ssthresh, 10000);
	T_EQ(pa.cwnd, 10000);
	T_EQ(pa.fast, 1);
	T_EQ(pa.fast_exit, 77);
	pa.cwnd = 100;
	sctp_cc_fast(&pa, 77);
	T_EQ(pa.cwnd, 4 * PMDCS);
}

T_CASE(a_timeout_leaves_one_packet)
{
	begin();
	pa.cwnd = 20000;
	sctp_cc_timeout(&pa, SCTP_DATA_HDR);
	/* the data of one: a packet in flight uses the window */
	T_EQ(pa.cwnd, PMDCS - SCTP_DATA_HDR);
	T_EQ(pa.ssthresh, 10000);
}

T_CASE(an_idle_window_shrinks)
{
	begin();
	pa.cwnd = 64000;
	pa.sent_at = 5 * SCTP_S;
	sctp_cc_idle(&pa, 5 * SCTP_S + 999999);
	T_EQ(pa.cwnd, 64000);
	sctp_cc_idle(&pa, 6 * SCTP_S);
	T_EQ(pa.cwnd, 32000);
	sctp_cc_idle(&pa, 1000ull * SCTP_S);
	T_EQ(pa.cwnd, 4 * PMDCS);
}
