#include "textflag.h"

// func plainBlocks(b []byte) (n int)
//
// Of 64 bytes at a time: one is not plain that is a quote, a backslash, or as a signed number below a blank, which is what control
// characters are and all beyond ASCII.
TEXT ·plainBlocks(SB), NOSPLIT, $0-32
	MOVQ b_base+0(FP), SI
	MOVQ b_len+8(FP), CX
	XORQ AX, AX
	SUBQ $64, CX
	JLT  done

	MOVQ $0x2222222222222222, DX
	MOVQ DX, X8
	VPBROADCASTQ X8, Y8
	MOVQ $0x5c5c5c5c5c5c5c5c, DX
	MOVQ DX, X9
	VPBROADCASTQ X9, Y9
	MOVQ $0x2020202020202020, DX
	MOVQ DX, X10
	VPBROADCASTQ X10, Y10

block:
	VMOVDQU (SI)(AX*1), Y0
	VMOVDQU 32(SI)(AX*1), Y1
	VPCMPEQB Y8, Y0, Y2
	VPCMPEQB Y9, Y0, Y3
	VPCMPGTB Y0, Y10, Y4
	VPCMPEQB Y8, Y1, Y5
	VPCMPEQB Y9, Y1, Y6
	VPCMPGTB Y1, Y10, Y7
	VPOR Y2, Y3, Y3
	VPOR Y4, Y5, Y5
	VPOR Y6, Y7, Y7
	VPOR Y3, Y5, Y5
	VPOR Y5, Y7, Y7
	VPTEST Y7, Y7
	JNZ  found
	ADDQ $64, AX
	CMPQ AX, CX
	JLE  block

found:
	VZEROUPPER

done:
	MOVQ AX, n+24(FP)
	RET
