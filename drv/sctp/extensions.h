/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the files of the extensions offer the others: a part of association.h,
 * which includes it.
 */
#ifndef DRV_SCTP_EXTENSIONS_H
#define DRV_SCTP_EXTENSIONS_H

/* sched.c: RFC 8260 s3 */
void sctp_enqueue(struct sctp_assoc *as, struct sctp_seg *s);
void sctp_sched_fill(struct sctp_assoc *as);
void sctp_sched_packet(struct sctp_assoc *as);
void sctp_sched_sent(struct sctp_assoc *as, struct sctp_seg *s, uint32_t n);
struct sctp_seg *sctp_open_piece(const struct sctp_assoc *as);
int sctp_sched_more(const struct sctp_assoc *as, const struct sctp_seg *s);
void sctp_sched_abandon(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid, uint32_t message, int sent);
void sctp_sched_forget(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_sched_fewer(struct sctp_assoc *as, uint32_t n);
int sctp_sched_waits(const struct sctp_assoc *as, uint32_t message);
int sctp_sched_amid(const struct sctp_assoc *as, int resets);

/* report.c */
uint16_t *sctp_change_add(const struct sctp_env *env, struct sctp_assoc *as,
	int ours, uint32_t what, uint32_t result, uint32_t n);
void sctp_failed_add(struct sctp_assoc *as, struct sctp_seg *s);
void sctp_report_forget(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_abandoned(struct sctp_assoc *as, uint16_t sid, uint32_t pr, int sent);

/* interleave.c: RFC 8260; sctp_ix_add(): as sctp_rx_add() */
const char *sctp_ix_add(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx);
void sctp_ix_partial(struct sctp_assoc *as);
void sctp_ix_skip(const struct sctp_env *env, struct sctp_assoc *as,
	uint16_t sid, int unordered, uint32_t mid);
void sctp_ix_drop(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_rx_cut(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_rx_drop(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_rx *rx);

/* reconf.c: RFC 6525, our requests; reconf_in.c: what arrives */
void sctp_reconf_forget(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_reconf_look(const struct sctp_env *env, struct sctp_assoc *as);
void sctp_reconf_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path);
void sctp_reconf_expired(const struct sctp_env *env, struct sctp_assoc *as);
int sctp_is_amid(const struct sctp_assoc *as);
int sctp_reconf_holds(const struct sctp_assoc *as);
int sctp_reconf_answer_out(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t seq, const uint16_t *sid, uint32_t n);
int sctp_reconf_answer_add(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t n);
void sctp_reconf_answered(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t seq, uint32_t result, const uint32_t *tsns);
void sctp_reconf_received(struct sctp_in *in, const struct sctp_tlv *c);
void sctp_new_tsns(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t mine, uint32_t peers);

#endif
