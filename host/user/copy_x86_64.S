/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Copies between the arena and the caller's memory.
 *
 *	int host_copyin(const void *src, void *dst, size_t len);
 *	int host_copyout(const void *src, void *dst, size_t len);
 *	int host_copyinstr(const void *src, char *dst, size_t max);
 *
 * Nothing between host_copy_begin and host_copy_end touches the stack, so
 * the fault handler can send any fault in here to host_copy_fault, which
 * returns EFAULT to the caller (fault.c).  Up to 256 bytes everything is
 * loaded before anything is stored, with moves that overlap in the middle.
 * Above that, a loop of 128 bytes, by registers of 16, 32 or 64; from
 * host_copy_rep bytes on, the processor's own string move.  Which, is chosen
 * by host_copy_init().  The upper sixteen registers of 64 bytes leave no state
 * behind that would slow what comes after: no vzeroupper.  No other registers
 * are written to than host_copyin_few() says, which keeps %rdx.
 */
#define FAR 8192   /* bytes from which lines are asked for */
#define AHEAD 1024 /* ... so far ahead of where they are stored */
#define EFAULT 14
#define ENAMETOOLONG 36

	.text
	.p2align 6
	.globl	host_copy_begin, host_copy_end, host_copy_fault
	.hidden	host_copy_begin, host_copy_end, host_copy_fault
	.globl	host_copyin, host_copyout, host_copyinstr
	.hidden	host_copyin, host_copyout, host_copyinstr
	.type	host_copyin, @function
	.type	host_copyout, @function
	.type	host_copyinstr, @function
	.type	host_copy_fault, @function

host_copy_begin:
host_copyin:
host_copyout:
	.cfi_startproc
	endbr64
	cmpq	$32, %rdx
	ja	.Lover32
	cmpl	$16, %edx
	jae	.L16to32
	cmpl	$8, %edx
	jae	.L8to15
	cmpl	$4, %edx
	jae	.L4to7
	testl	%edx, %edx
	je	.Ldone
	movzbl	(%rdi), %eax
	cmpl	$1, %edx
	je	.L1
	movzwl	-2(%rdi,%rdx), %ecx
	movb	%al, (%rsi)
	movw	%cx, -2(%rsi,%rdx)
.Ldone:
	xorl	%eax, %eax
	ret
.L1:
	movb	%al, (%rsi)
	xorl	%eax, %eax
	ret
.L4to7:
	movl	(%rdi), %eax
	movl	-4(%rdi,%rdx), %ecx
	movl	%eax, (%rsi)
	movl	%ecx, -4(%rsi,%rdx)
	xorl	%eax, %eax
	ret
.L8to15:
	movq	(%rdi), %rax
	movq	-8(%rdi,%rdx), %rcx
	movq	%rax, (%rsi)
	movq	%rcx, -8(%rsi,%rdx)
	xorl	%eax, %eax
	ret
	.p2align 4
.L16to32:
	movups	(%rdi), %xmm0
	movups	-16(%rdi,%rdx), %xmm1
	movups	%xmm0, (%rsi)
	movups	%xmm1, -16(%rsi,%rdx)
	xorl	%eax, %eax
	ret

	.p2align 4
.Lover32:
	cmpq	$128, %rdx
	ja	.Lover128
	movups	(%rdi), %xmm0
	movups	16(%rdi), %xmm1
	movups	-32(%rdi,%rdx), %xmm2
	movups	-16(%rdi,%rdx), %xmm3
	cmpl	$64, %edx
	ja	.L65to128
	movups	%xmm0, (%rsi)
	movups	%xmm1, 16(%rsi)
	movups	%xmm2, -32(%rsi,%rdx)
	movups	%xmm3, -16(%rsi,%rdx)
	xorl	%eax, %eax
	ret
.L65to128:
	movups	32(%rdi), %xmm4
	movups	48(%rdi), %xmm5
	movups	-64(%rdi,%rdx), %xmm6
	movups	-48(%rdi,%rdx), %xmm7
	movups	%xmm0, (%rsi)
	movups	%xmm1, 16(%rsi)
	movups	%xmm4, 32(%rsi)
	movups	%xmm5, 48(%rsi)
	movups	%xmm6, -64(%rsi,%rdx)
	movups	%xmm7, -48(%rsi,%rdx)
	movups	%xmm2, -32(%rsi,%rdx)
	movups	%xmm3, -16(%rsi,%rdx)
	xorl	%eax, %eax
	ret

	.p2align 4
.Lover128:
	cmpq	host_copy_rep(%rip), %rdx
	jae	.Lrep
	cmpb	$1, host_copy_avx(%rip)
	ja	.L512
	jb	.Lsse
.Lavx:
	vmovdqu	(%rdi), %ymm0
	vmovdqu	32(%rdi), %ymm1
	vmovdqu	64(%rdi), %ymm2
	vmovdqu	96(%rdi), %ymm3
	vmovdqu	-128(%rdi,%rdx), %ymm4
	vmovdqu	-96(%rdi,%rdx), %ymm5
	vmovdqu	-64(%rdi,%rdx), %ymm6
	vmovdqu	-32(%rdi,%rdx), %ymm7
	vmovdqu	%ymm0, (%rsi)
	vmovdqu	%ymm1, 32(%rsi)
	vmovdqu	%ymm2, 64(%rsi)
	vmovdqu	%ymm3, 96(%rsi)
	cmpq	$256, %rdx
	jbe	.Lavxtail
	/* from here on dst is aligned to 32; the head is stored already */
	leaq	-128(%rsi,%rdx), %rcx	/* where the tail goes */
	movq	%rsi, %rax
	andq	$31, %rax
	subq	%rax, %rsi
	subq	%rax, %rdi
	subq	$-128, %rsi
	subq	$-128, %rdi
	.p2align 4
.Lavxloop:
	vmovdqu	(%rdi), %ymm0
	vmovdqu	32(%rdi), %ymm1
	vmovdqu	64(%rdi), %ymm2
	vmovdqu	96(%rdi), %ymm3
	subq	$-128, %rdi
	vmovdqa	%ymm0, (%rsi)
	vmovdqa	%ymm1, 32(%rsi)
	vmovdqa	%ymm2, 64(%rsi)
	vmovdqa	%ymm3, 96(%rsi)
	subq	$-128, %rsi
	cmpq	%rcx, %rsi
	jb	.Lavxloop
	vmovdqu	%ymm4, (%rcx)
	vmovdqu	%ymm5, 32(%rcx)
	vmovdqu	%ymm6, 64(%rcx)
	vmovdqu	%ymm7, 96(%rcx)
	vzeroupper
	xorl	%eax, %eax
	ret
.Lavxtail:
	vmovdqu	%ymm4, -128(%rsi,%rdx)
	vmovdqu	%ymm5, -96(%rsi,%rdx)
	vmovdqu	%ymm6, -64(%rsi,%rdx)
	vmovdqu	%ymm7, -32(%rsi,%rdx)
	vzeroupper
	xorl	%eax, %eax
	ret

	.p2align 4
.L512:
	/* not where every load would take two lines */
	movl	%esi, %eax
	subl	%edi, %eax
	testl	$63, %eax
	jne	.Lavx
	vmovdqu64	(%rdi), %zmm16
	vmovdqu64	64(%rdi), %zmm17
	vmovdqu64	-128(%rdi,%rdx), %zmm18
	vmovdqu64	-64(%rdi,%rdx), %zmm19
	vmovdqu64	%zmm16, (%rsi)
	vmovdqu64	%zmm17, 64(%rsi)
	leaq	-128(%rsi,%rdx), %rcx	/* where the tail goes */
	cmpq	$256, %rdx
	jbe	.L512tail
	/* from here on dst is aligned to 64; the head is stored already */
	movq	%rsi, %rax
	andq	$63, %rax
	subq	%rax, %rsi
	subq	%rax, %rdi
	cmpq	$FAR, %rdx
	jb	.L512loop
	.p2align 4
.L512far:
	prefetchw	AHEAD+128(%rsi)
	prefetchw	AHEAD+192(%rsi)
	vmovdqu64	128(%rdi), %zmm16
	vmovdqu64	192(%rdi), %zmm17
	subq	$-128, %rdi
	vmovdqa64	%zmm16, 128(%rsi)
	vmovdqa64	%zmm17, 192(%rsi)
	subq	$-128, %rsi
	leaq	128+AHEAD(%rsi), %rax
	cmpq	%rcx, %rax
	jb	.L512far
	.p2align 4
.L512loop:
	vmovdqu64	128(%rdi), %zmm16
	vmovdqu64	192(%rdi), %zmm17
	subq	$-128, %rdi
	vmovdqa64	%zmm16, 128(%rsi)
	vmovdqa64	%zmm17, 192(%rsi)
	subq	$-128, %rsi
	leaq	128(%rsi), %rax
	cmpq	%rcx, %rax
	jb	.L512loop
.L512tail:
	vmovdqu64	%zmm18, (%rcx)
	vmovdqu64	%zmm19, 64(%rcx)
	xorl	%eax, %eax
	ret

	.p2align 4
.Lsse:
	movups	-64(%rdi,%rdx), %xmm4
	movups	-48(%rdi,%rdx), %xmm5
	movups	-32(%rdi,%rdx), %xmm6
	movups	-16(%rdi,%rdx), %xmm7
	leaq	-64(%rsi,%rdx), %rcx	/* where the tail goes */
	.p2align 4
.Lsseloop:
	movups	(%rdi), %xmm0
	movups	16(%rdi), %xmm1
	movups	32(%rdi), %xmm2
	movups	48(%rdi), %xmm3
	addq	$64, %rdi
	movups	%xmm0, (%rsi)
	movups	%xmm1, 16(%rsi)
	movups	%xmm2, 32(%rsi)
	movups	%xmm3, 48(%rsi)
	addq	$64, %rsi
	cmpq	%rcx, %rsi
	jb	.Lsseloop
	movups	%xmm4, (%rcx)
	movups	%xmm5, 16(%rcx)
	movups	%xmm6, 32(%rcx)
	movups	%xmm7, 48(%rcx)
	xorl	%eax, %eax
	ret

.Lrep:
	movq	%rdx, %rcx
	xchgq	%rdi, %rsi
	rep movsb
	xorl	%eax, %eax
	ret
	.cfi_endproc
	.size	host_copyin, . - host_copyin
	.size	host_copyout, . - host_copyout

	.p2align 4
host_copyinstr:
	.cfi_startproc
	endbr64
	xorl	%ecx, %ecx
.Lstrloop:
	cmpq	%rdx, %rcx
	jae	.Lstrlong
	movzbl	(%rdi,%rcx), %eax
	movb	%al, (%rsi,%rcx)
	incq	%rcx
	testb	%al, %al
	jne	.Lstrloop
	xorl	%eax, %eax
	ret
.Lstrlong:
	movl	$ENAMETOOLONG, %eax
	ret
	.cfi_endproc
	.size	host_copyinstr, . - host_copyinstr
host_copy_end:

host_copy_fault:
	.cfi_startproc
	movl	$EFAULT, %eax
	ret
	.cfi_endproc
	.size	host_copy_fault, . - host_copy_fault

/*
 * What a signal handler returns to.  Debuggers and unwinders know the frame
 * by exactly these bytes, and look one byte before for the function: hence
 * the nop, and no frame description.
 */
	.p2align 4
	nop
	.globl	host_sigreturn
	.hidden	host_sigreturn
	.type	host_sigreturn, @function
host_sigreturn:
	movq	$15, %rax
	syscall
	.size	host_sigreturn, . - host_sigreturn

	.section .note.GNU-stack, "", @progbits
	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5
	.string	"GNU"
	.long	0xc0000002, 4, 3, 0
