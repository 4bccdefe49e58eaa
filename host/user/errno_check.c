/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Checks that the executive's error numbers are those of this system: the
 * enumeration below stores the values of <errno.h>, and the values of
 * <str/errno.h> are compared with them.
 */
#include <errno.h>

/* The host's values, under names that survive the #undefs. */
#define ROW(e) HOST_##e = e,
enum {
#include "errno.list"
};
#undef ROW

#undef EPERM
#undef ENOENT
#undef ESRCH
#undef EINTR
#undef EIO
#undef ENXIO
#undef EBADF
#undef EAGAIN
#undef ENOMEM
#undef EACCES
#undef EFAULT
#undef EBUSY
#undef EEXIST
#undef ENODEV
#undef ENOTDIR
#undef EISDIR
#undef EINVAL
#undef ENFILE
#undef EMFILE
#undef ENOTTY
#undef ENOSPC
#undef ESPIPE
#undef EPIPE
#undef ERANGE
#undef ENAMETOOLONG
#undef ENOSYS
#undef ELOOP
#undef ENOSTR
#undef ENODATA
#undef ETIME
#undef ENOSR
#undef EPROTO
#undef EBADMSG
#undef EOVERFLOW
#undef EILSEQ
#undef ENOTSOCK
#undef EMSGSIZE
#undef EOPNOTSUPP
#undef ETIMEDOUT
#undef EALREADY
#undef EINPROGRESS
#undef ECANCELED
#include <str/errno.h>

#define ROW(e) _Static_assert((int)HOST_##e == e, #e);
#include "errno.list"
