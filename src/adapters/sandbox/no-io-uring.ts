const FIRST = 425; // io_uring_setup, io_uring_enter, io_uring_register: the same numbers on every architecture
const LAST = 427;
/** x86_64 kernels with the x32 ABI accept the same calls with this bit set. */
const X32_BIT = 0x4000_0000;

// linux/bpf_common.h, linux/seccomp.h
const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_IF_GREATER_OR_EQUAL = 0x35;
const JUMP_IF_GREATER = 0x25;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const ERRNO = 0x0005_0000;
const ENOSYS = 38;

/** A seccomp filter that makes io_uring look absent, so that programs fall back to system calls that can be traced. */
export function noIoUringFilter(): Buffer {
  const program = [
    [LOAD_WORD, 0, 0, 0],
    [AND, 0, 0, ~X32_BIT >>> 0],
    [JUMP_IF_GREATER_OR_EQUAL, 0, 2, FIRST],
    [JUMP_IF_GREATER, 1, 0, LAST],
    [RETURN, 0, 0, ERRNO | ENOSYS],
    [RETURN, 0, 0, ALLOW],
  ] as const;
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}
