/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A tool stands in a pipe between programs under strrun(1), and leaves it again.
 */
#ifndef TOOLS_INSERT_H
#define TOOLS_INSERT_H

#include <signal.h>
#include <sys/types.h>

#include "carried.h"
#include "tool.h"

struct insert {
	/* set by the caller */
	struct tool *tool;
	long wait_s; /* for a read of the reader, at most */
	const volatile sig_atomic_t *asked_to_end; /* by a signal */
	/* set by insert_pipe() */
	int from;    /* reads the old pipe, which the writer writes */
	int to;	     /* writes the new pipe, which the reader reads */
	long pid;    /* of the reader */
	/* private */
	struct carried c;
	struct run_pipe *p;
	char path[64]; /* of the reader's descriptor */
	int pidfd, new;
	uint64_t id, new_id; /* inodes of the old pipe, of the new one */
	double end;
	bool holds;  /* the area's request is this process's */
};

/**
 * insert_pipe - make the reader of a pipe read a new pipe, and read the old one
 * @in:  the caller's fields are set
 * @pid: a process that holds the pipe
 * @fd:  its descriptor.  If it is a writing end, the reader is the one process
 *       that holds the reading end.
 *
 * Does not return if that is impossible: the exit status is TOOL_FAILED, and
 * nothing has changed.
 */
void insert_pipe(struct insert *in, long pid, long fd);

/**
 * insert_leave - let the reader read the old pipe again
 * @in:   filled by insert_pipe()
 * @move: moves at most @max bytes from the old pipe to the new one.  Return: how
 *        many; 0: there are none now; -1: there will be none
 *
 * Until the reader can change, the bytes go on passing.  Afterwards the process
 * can end.
 *
 * Return: false if the writer or the reader has ended.
 */
bool insert_leave(struct insert *in, ssize_t (*move)(struct insert *in,
	size_t max));

#endif
