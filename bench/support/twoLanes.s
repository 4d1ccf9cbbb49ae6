# Two of a processor's lanes at once (§12) for x86-64 with BMI and AVX-512VL, in Intel's spelling: twelve of the sixteen words
# in general registers, and four in vector registers, which turn and add without the units that the others need. With tables
# of 16 KiB, of which a cache of 32 KiB holds two, it showed 1.5 of one lane (attack 425). The tables lie at `tables`, in
# turn; rounds are a multiple of two. bench/hostLanes.mjs compiles and runs it.
.intel_syntax noprefix
.data
.p2align 6
kmask: .quad 0x7ff8,0x7ff8
kptr: .quad 0
kcnt: .quad 0
ksp: .quad 0
.p2align 6
kbuf: .space 256
.text
.globl two_lanes
.p2align 6
two_lanes:
push rbx
push rbp
push r12
push r13
push r14
push r15
sub rsp,128
mov [kptr], rdi
shr edx, 1
mov [kcnt], edx
mov [ksp], rsp
vmovdqa xmm14, xmmword ptr [kmask]
mov rdx, qword ptr [rdi+8]
mov rsi, qword ptr [rdi+16]
mov rbp, qword ptr [rdi+40]
mov r8, qword ptr [rdi+48]
mov r9, qword ptr [rdi+56]
mov r10, qword ptr [rdi+64]
mov r11, qword ptr [rdi+80]
mov r12, qword ptr [rdi+88]
mov r13, qword ptr [rdi+96]
mov r14, qword ptr [rdi+104]
mov r15, qword ptr [rdi+120]
vmovq xmm0, qword ptr [rdi+0]
vpand xmm15,xmm0,xmm14
vmovq qword ptr [kbuf+0], xmm0
vmovq xmm1, qword ptr [rdi+32]
vpand xmm15,xmm1,xmm14
vmovq qword ptr [kbuf+8], xmm15
vmovq xmm2, qword ptr [rdi+72]
vpand xmm15,xmm2,xmm14
vmovq qword ptr [kbuf+16], xmm15
vmovq xmm3, qword ptr [rdi+112]
vpand xmm15,xmm3,xmm14
vmovq qword ptr [kbuf+24], xmm3
mov rdi, qword ptr [rdi+24]
mov rax, 18446744073709518855
1:
.rept 2
vpand xmm15, xmm0, xmm14
vmovd ebx, xmm15
andn ecx, eax, edx
vprolq xmm0, xmm0, 21
vpaddq xmm0, xmm0, xmmword ptr [tables+rcx]
andn ecx, eax, esi
rorx rdx, rdx, 43
add rdx, qword ptr [tables+rcx]
andn ecx, eax, edi
rorx rsi, rsi, 43
add rsi, qword ptr [tables+rcx]
mov ecx, dword ptr [kbuf+8]
rorx rdi, rdi, 43
add rdi, qword ptr [tables+rcx]
andn ecx, eax, ebp
vprolq xmm1, xmm1, 21
vpaddq xmm1, xmm1, xmmword ptr [tables+rcx]
vpand xmm15, xmm1, xmm14
vmovd dword ptr [kbuf+8], xmm15
andn ecx, eax, r8d
rorx rbp, rbp, 43
add rbp, qword ptr [tables+rcx]
andn ecx, eax, r9d
rorx r8, r8, 43
add r8, qword ptr [tables+rcx]
rorx r9, r9, 43
add r9, qword ptr [tables+rbx]
andn ebx, eax, r10d
mov ecx, dword ptr [kbuf+16]
rorx r10, r10, 43
add r10, qword ptr [tables+32768+rcx]
andn ecx, eax, r11d
vprolq xmm2, xmm2, 21
vpaddq xmm2, xmm2, xmmword ptr [tables+32768+rcx]
vpand xmm15, xmm2, xmm14
vmovd dword ptr [kbuf+16], xmm15
andn ecx, eax, r12d
rorx r11, r11, 43
add r11, qword ptr [tables+32768+rcx]
andn ecx, eax, r13d
rorx r12, r12, 43
add r12, qword ptr [tables+32768+rcx]
andn ecx, eax, r14d
rorx r13, r13, 43
add r13, qword ptr [tables+32768+rcx]
vpand xmm15, xmm3, xmm14
vmovd ecx, xmm15
rorx r14, r14, 43
add r14, qword ptr [tables+32768+rcx]
andn ecx, eax, r15d
vprolq xmm3, xmm3, 21
vpaddq xmm3, xmm3, xmmword ptr [tables+32768+rcx]
rorx r15, r15, 43
add r15, qword ptr [tables+32768+rbx]
.endr
dec dword ptr [kcnt]
jnz 1b
mov rax, [kptr]
vmovq qword ptr [rax+0], xmm0
mov qword ptr [rax+8], rdx
mov qword ptr [rax+16], rsi
mov qword ptr [rax+24], rdi
vmovq qword ptr [rax+32], xmm1
mov qword ptr [rax+40], rbp
mov qword ptr [rax+48], r8
mov qword ptr [rax+56], r9
mov qword ptr [rax+64], r10
vmovq qword ptr [rax+72], xmm2
mov qword ptr [rax+80], r11
mov qword ptr [rax+88], r12
mov qword ptr [rax+96], r13
mov qword ptr [rax+104], r14
vmovq qword ptr [rax+112], xmm3
mov qword ptr [rax+120], r15
mov rsp, [ksp]
add rsp,128
pop r15
pop r14
pop r13
pop r12
pop rbp
pop rbx
ret
.section .note.GNU-stack,"",@progbits
