/** §5. Tiles are 32 x 32: one warp's width, and small enough that a CPU recomputes one in milliseconds. */
export const TILE = 32

/** §2. Above this k the FP32 accumulator of a tensor core could round. */
export const MAX_K = 32768

/** §4.1. One message can name at most this many devices; the mask is a u32. */
export const MAX_DEVICES = 32

/** Parts of one challenge: ten kinds of question and one "alone" part per device, with room. */
export const MAX_PARTS = 64

/** Largest m = n of §4.0. */
export const MAX_SIZE = 32768

/** More openings than this prove nothing more and cost the verifier its time. */
export const MAX_OPENINGS = 4096

/** §7. Kept rounds of one fill; the memory class is chosen so that a card needs far fewer. */
export const MAX_KEPT = 4096

/** §7. Two bytes are kept of every entry, 2048 of every tile. */
export const KEPT_TILE_BYTES = 2048
export const KEPT_TILE_WORDS = 512

/** §7. What a host link can carry at most: x16 of PCIe 5 or 6, NVLink to a POWER9 (attack 479), C2C where host and card share it. */
export const HOST_LINK_BYTES_PER_SEC = { pcie: 64e9, nvlink: 75e9, pcie6: 128e9, c2c: 450e9 } as const

/** §7. Memory counts as held by the card only when it is read at this share of the card's own copy bandwidth. */
export const MEMORY_BANDWIDTH_SHARE = 0.85

/**
 * §8. Bind rate over int8 rate, in thousandths, from which one memory is said of bound rounds. An H200 shows 502
 * (bench/fixtures); two cards that share its product over PCIe would move half of C, 2 GiB a round, and stay below 170. It says
 * nothing of plain rounds: others may share them with one card that runs the bound ones alone at this share (attack 361).
 * Nor of cards that each have so much of C that any two tiles meet on one of them (attack 380).
 */
export const ONE_MEMORY_SHARE = 250

/** §4.0. A timed part must last at least half of what the preset asks. */
export const SHORTEST_SHARE = 0.5

/** The rules a run is conducted and judged under; 1 is still checked, every new run is under 2. */
export type ProtocolVersion = 1 | 2
export const PROTOCOL_VERSION: ProtocolVersion = 2
