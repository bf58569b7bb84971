#include "textflag.h"

// func skip(b []byte, x, y byte, least int8) (n int)
TEXT ·skip(SB), NOSPLIT, $0-40
	MOVQ b_base+0(FP), SI
	MOVQ b_len+8(FP), CX
	XORQ AX, AX
	SUBQ $64, CX
	JLT  done

	VPBROADCASTB x+24(FP), Y8
	VPBROADCASTB y+25(FP), Y9
	VPBROADCASTB least+26(FP), Y10

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
	MOVQ AX, n+32(FP)
	RET
