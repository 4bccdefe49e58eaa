/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The state table of TPI. drv/tpi/state.c includes it; scripts read it as text
 * to make the table in docs/networking.md and the cases of the conformance
 * suite.
 *
 * A column for each state, in the order of their numbers:
 *
 *	UNBND BREQ UREQ IDLE OREQ CREQ WCON WRES CRES DATA WIND WREQ
 *	D6 D7 D9 D10 D11
 *
 * which contains the next state, or
 *
 *	__ the same state	xx refused: T_ERROR_ACK, TOUTSTATE
 *	EE fatal: M_ERROR, EPROTO	ZZ dropped in silence
 *
 * Services: C connections, O those with orderly release, L datagrams.
 */

/* Requests. */
#define TPI_DOWN(X) \
X(T_CONN_REQ, "CO", conn_req, \
  xx,   xx,   xx,   CREQ, xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx, \
  xx, xx, xx, xx, xx) \
X(T_CONN_RES, "CO", conn_res, \
  xx,   xx,   xx,   xx,   xx,   xx,   xx,   CRES, xx,   xx,   xx,   xx, \
  xx, xx, xx, xx, xx) \
X(T_DISCON_REQ, "CO", discon_req, \
  xx,   xx,   xx,   xx,   xx,   xx,   D6,   D7,   xx,   D9,   D10,  D11, \
  xx, xx, xx, xx, xx) \
X(T_DATA_REQ, "CO", data_req, \
  EE,   EE,   EE,   ZZ,   EE,   EE,   EE,   EE,   EE,   __,   EE,   __, \
  ZZ, EE, ZZ, ZZ, ZZ) \
X(T_EXDATA_REQ, "CO", exdata_req, \
  EE,   EE,   EE,   ZZ,   EE,   EE,   EE,   EE,   EE,   __,   EE,   __, \
  ZZ, EE, ZZ, ZZ, ZZ) \
X(T_INFO_REQ, "COL", info_req, \
  __,   __,   __,   __,   __,   __,   __,   __,   __,   __,   __,   __, \
  __, __, __, __, __) \
X(T_BIND_REQ, "COL", bind_req, \
  BREQ, xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx, \
  xx, xx, xx, xx, xx) \
X(T_UNBIND_REQ, "COL", unbind_req, \
  xx,   xx,   xx,   UREQ, xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx, \
  xx, xx, xx, xx, xx) \
X(T_UNITDATA_REQ, "L", unitdata_req, \
  EE,   EE,   EE,   __,   EE,   EE,   EE,   EE,   EE,   EE,   EE,   EE, \
  EE, EE, EE, EE, EE) \
X(T_OPTMGMT_REQ, "COL", optmgmt_req, \
  __,   __,   __,   __,   __,   __,   __,   __,   __,   __,   __,   __, \
  __, __, __, __, __) \
X(T_ORDREL_REQ, "O", ordrel_req, \
  EE,   EE,   EE,   ZZ,   EE,   EE,   EE,   EE,   EE,   WIND, EE,   IDLE, \
  ZZ, EE, ZZ, ZZ, ZZ) \
X(T_OPTDATA_REQ, "CO", optdata_req, \
  EE,   EE,   EE,   ZZ,   EE,   EE,   EE,   EE,   EE,   __,   EE,   __, \
  ZZ, EE, ZZ, ZZ, ZZ) \
X(T_ADDR_REQ, "COL", addr_req, \
  __,   __,   __,   __,   __,   __,   __,   __,   __,   __,   __,   __, \
  __, __, __, __, __) \
X(T_CAPABILITY_REQ, "COL", capability_req, \
  __,   __,   __,   __,   __,   __,   __,   __,   __,   __,   __,   __, \
  __, __, __, __, __)

/*
 * Indications and confirmations. xx: not in this state.  T_DISCON_IND changes
 * WRES to IDLE if it was the last indication; so does the answer to the last
 * one.
 */
#define TPI_UP(X) \
X(T_CONN_IND, "CO", conn_ind, \
  xx,   xx,   xx,   WRES, xx,   xx,   xx,   __,   __,   xx,   xx,   xx, \
  xx, __, xx, xx, xx) \
X(T_CONN_CON, "CO", conn_con, \
  xx,   xx,   xx,   xx,   xx,   xx,   DATA, xx,   xx,   xx,   xx,   xx, \
  xx, xx, xx, xx, xx) \
X(T_DISCON_IND, "CO", discon_ind, \
  xx,   xx,   xx,   xx,   xx,   xx,   IDLE, __,   xx,   IDLE, IDLE, IDLE, \
  xx, xx, xx, xx, xx) \
X(T_DATA_IND, "CO", data_ind, \
  xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx,   __,   __,   xx, \
  xx, xx, xx, xx, xx) \
X(T_EXDATA_IND, "CO", exdata_ind, \
  xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx,   __,   __,   xx, \
  xx, xx, xx, xx, xx) \
X(T_ORDREL_IND, "O", ordrel_ind, \
  xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx,   WREQ, IDLE, xx, \
  xx, xx, xx, xx, xx) \
X(T_UNITDATA_IND, "L", unitdata_ind, \
  xx,   xx,   xx,   __,   xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx, \
  xx, xx, xx, xx, xx) \
X(T_UDERROR_IND, "L", uderror_ind, \
  xx,   xx,   xx,   __,   xx,   xx,   xx,   xx,   xx,   xx,   xx,   xx, \
  xx, xx, xx, xx, xx)
