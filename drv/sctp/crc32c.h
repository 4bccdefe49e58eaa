/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * CRC32c, the checksum of SCTP (RFC 9260 s6.8 and appendix A).
 *
 * Implementations with the same result: the instruction of SSE4.2, and tables.  The caller asks crc32c_has_instruction() once and keeps the answer,
 * because the question is expensive on a virtual machine.
 */
#ifndef DRV_SCTP_CRC32C_H
#define DRV_SCTP_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * What this processor has: 0 nothing; 1 the instruction; 3 the multiplication
 * too by which long input is divided.
 */
int crc32c_has_instruction(void);

/*
 * crc32c_add - the CRC of a sequence of bytes, continued
 * @crc:         result for the bytes before @p; 0 for none
 * @instruction: what crc32c_has_instruction() returned, or 0 or 1 of it
 * Return: the CRC of all the bytes.
 */
uint32_t crc32c_add(uint32_t crc, const unsigned char *p, size_t n,
	int instruction);

/*
 * crc32c_packet - the checksum of an SCTP packet
 * @n: bytes of the packet, at least the 12 of the common header.  The checksum
 *     field is counted as zero.
 * Return: the value of the field; its least significant byte is sent first.
 */
uint32_t crc32c_packet(const unsigned char *p, size_t n, int instruction);

#endif
