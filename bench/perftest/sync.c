/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The synchronous test: one process writes and reads in turn.
 *
 * Without -b the pipe is filled until flow control stops the writer and
 * then emptied, so queueing and back-enabling are measured, without any
 * switch of processes.  With -b one message goes in and one comes out: the
 * bare cost of passing a message through an empty pipe.
 */
#include "perftest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct sync_state {
	struct tally sent;
	struct tally got;
	long long written; /* bytes, since the start */
	long long read;
};

/* What a call came back with: go on, this turn is over, or it failed. */
enum outcome { MOVED, TURN_OVER, FAILED };

static enum outcome
outcome_of(ssize_t ret, const char *call)
{
	if (ret > 0)
		return MOVED;
	if (ret == 0 || errno == EAGAIN || errno == EINTR || errno == EPIPE)
		return TURN_OVER;
	(void)perftest_complain(call);
	return FAILED;
}

static enum outcome
write_turn(const struct perftest *test, struct sync_state *state)
{
	for (;;) {
		ssize_t ret = perftest_send(test, &state->sent);
		enum outcome outcome = outcome_of(ret, "write");

		if (outcome != MOVED)
			return outcome;
		state->written += ret;
		if (test->options->blocking || perftest_timed_out)
			return TURN_OVER;
	}
}

static enum outcome
read_turn(const struct perftest *test, struct sync_state *state)
{
	for (;;) {
		ssize_t ret = perftest_receive(test, &state->got);
		enum outcome outcome = outcome_of(ret, "read");

		if (outcome != MOVED)
			return outcome;
		state->read += ret;
		if (test->options->blocking || perftest_timed_out)
			return TURN_OVER;
	}
}

/*
 * One turn: a read if a whole one is waiting, a write if less is.  A
 * blocking read of more than has been written would never return.  A pipe
 * too small for what one read asks for is emptied when it takes no more.
 */
static enum outcome
one_turn(const struct perftest *test, struct sync_state *state)
{
	long long want = (long long)test->read_size;
	long long before = state->written;
	enum outcome outcome = TURN_OVER;

	if (state->written >= state->read + want)
		outcome = read_turn(test, state);
	if (outcome == FAILED || state->written >= state->read + want)
		return outcome;
	outcome = write_turn(test, state);
	if (outcome != FAILED && !test->options->blocking &&
		state->written == before && state->written > state->read)
		outcome = read_turn(test, state);
	return outcome;
}

static int
one_period(const struct perftest *test, struct sync_state *state)
{
	if (perftest_timer_arm(test->options->period) != 0)
		return -1;
	while (!perftest_timed_out && !perftest_hung_up) {
		if (one_turn(test, state) == FAILED)
			return -1;
	}
	tally_report(&state->sent, test, test->fds[1]);
	tally_report(&state->got, test, test->fds[0]);
	return 0;
}

int
perftest_sync(struct perftest *test)
{
	struct sync_state state = {0};
	long left = test->options->iterations;
	int ret = 0;

	tally_init(&state.sent, "sent");
	tally_init(&state.got, "read");
	while (ret == 0 && left != 0 && !perftest_hung_up) {
		ret = one_period(test, &state);
		if (left > 0)
			left--;
	}
	perftest_timer_disarm();
	return ret;
}
