/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Commands of the vend driver. */
#define V_SUM	(('v' << 8) | 1)	/* struct vsum */
#define V_CAPS	(('v' << 8) | 2)	/* struct vcaps, transparent only */
#define V_FAIL	(('v' << 8) | 3)	/* int: the error it ends with */
#define V_RVAL	(('v' << 8) | 4)	/* int: what it returns */
#define V_SILENT (('v' << 8) | 5)	/* is not answered */
#define V_BUSY	(('v' << 8) | 6)	/* int *: ioctls that are going on */
#define V_TWICE	(('v' << 8) | 7)	/* I_STR: data comes back twice */
#define V_ONE	(('v' << 8) | 8)	/* int by value, + 1 is returned */

struct vsum {
	int a, b, sum;
};

struct vcaps {
	char *text;		/* made capital where it stands */
	int len;
	int changed;		/* how many letters were changed */
};
