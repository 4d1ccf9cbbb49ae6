/** What makes a bench fail, what each means and what to do about it. */
export const BENCH_PROBLEMS = {
  SLOW: {
    meaning: 'slower than such a card should be',
    nextStep:
      'Look at throttling, the power limit and other processes; if nothing explains it, have the card replaced.',
  },
  SLOWER_THAN_BEFORE: {
    meaning: 'slower than in the run it is compared with',
    nextStep: 'Look at what changed: driver, clocks, temperature, power limit, other processes.',
  },
  HARDWARE_SLOWDOWN: {
    meaning: 'the card slowed itself down to protect itself from heat or a failing power supply',
    nextStep: 'Check the cooling and the power cables of the box.',
  },
  DRIVER_ERROR: {
    meaning: 'the driver reported an error of the card while it worked',
    nextStep: 'Look for Xid lines in the kernel log (dmesg); if the number comes again, have the card replaced.',
  },
  MEMORY_ERRORS: {
    meaning: 'the memory of the card has errors that could not be corrected',
    nextStep: 'Reset the card (nvidia-smi --gpu-reset); if they come again, have it replaced.',
  },
  REMAP_FAILED: {
    meaning: 'bad memory of the card could not be taken out of use',
    nextStep: 'Have the card replaced.',
  },
  CARD_FAILED: {
    meaning: 'a card failed, and is left out of what follows',
    nextStep: 'See the error, which says what to do.',
  },
  FEWER_CARDS: {
    meaning: 'fewer cards than named',
    nextStep:
      'Compare with what the driver lists (nvidia-smi -L), and see whether the environment hides cards from it.',
  },
} as const

/** Worth knowing, and by itself no failure. */
export const BENCH_NOTES = {
  NOT_IN_CATALOGUE: {
    meaning: 'the catalogue has no card of this name and memory: there is nothing to hold it against',
    nextStep: 'Say what it should be with --claim, or compare it with an earlier run: --against FILE.',
  },
  IS_A_CPU: {
    meaning: 'the catalogue holds cards and no CPUs: there is nothing to hold it against',
    nextStep: 'Compare it with a run of your own: keep one (--json > FILE), then name it with --against FILE.',
  },
  NOT_COMPARED: {
    meaning: 'this run and the one that --against names do not both show it, at one size: it is held to nothing',
    nextStep: 'Name a run of the same cards, with the same --size and --precisions; or leave --against out.',
  },
  OTHER_NAME: {
    meaning: 'the driver gives the card another name than the one it is held against',
    nextStep: 'Have it verified: touchstone verify --claim.',
  },
  POWER_LIMITED: {
    meaning: 'the power limit held the clocks down',
    nextStep: 'Usual in dense products. Where the rates are low too, compare the limit with the datasheet.',
  },
  HOT: {
    meaning: 'heat held the clocks down',
    nextStep: 'Check the cooling of the box.',
  },
  CLOCKS_HELD: {
    meaning: 'clocks were held down by a setting of the driver',
    nextStep: 'nvidia-smi --reset-applications-clocks takes it back.',
  },
  OTHER_PROCESSES: {
    meaning: 'other processes computed on the card too',
    nextStep: 'Stop them and run again; nvidia-smi shows them.',
  },
  PCIE_NARROW: {
    meaning: 'fewer PCIe lanes than the card has',
    nextStep: 'Expect half the host transfer for half the lanes; try another slot or riser.',
  },
  ECC_OFF: {
    meaning: 'errors of the memory are not corrected: ECC is off',
    nextStep: 'nvidia-smi --ecc-config=1 and a reset turn it on.',
  },
  MIG_ON: {
    meaning: 'the card is cut into slices (MIG); this is one of them',
    nextStep: 'Figures of a slice are not those of the card.',
  },
  VIRTUAL: {
    meaning: 'the card is handed in by a hypervisor',
    nextStep: 'A vGPU is a share of a card; passed through it is the whole one.',
  },
  REMAPPED_ROWS: {
    meaning: 'bad memory was found before and taken out of use',
    nextStep: 'Nothing now; a count that grows says that the memory is wearing out.',
  },
  NOT_WATCHED: {
    meaning: 'nothing is known of clocks, power, temperature and errors: NVML did not tell',
    nextStep: 'In a container add the driver capability "utility".',
  },
} as const

export type BenchProblem = keyof typeof BENCH_PROBLEMS
export type BenchNote = keyof typeof BENCH_NOTES
