import { faultsOf } from '../../ports/errors.ts'

/** Every fault of the apps. */
export const fault = faultsOf({
  BAD_CLAIM: {
    blame: 'user',
    message: '{place}the claim "{claim}" cannot be read: {problem}',
    nextStep: '{mend}',
  },
  BAD_INVENTORY: {
    blame: 'prover',
    message: "the prover's inventory is refused: {why}",
    nextStep: 'Install the release the validator offers.',
  },
  BELOW_PRESET: {
    blame: 'user',
    message: '{option} {asked} asks for less than the preset {preset}, which has {least}',
    nextStep: 'Use {option} {least} or more, or the preset mainnet, where asking for less makes the run "custom".',
  },
  BOX_CONNECTION_LOST: {
    blame: 'network',
    retry: true,
    message: 'the connection to the box was lost while "{expected}" was expected',
    nextStep: 'The box may be rebooting or the network may be down: try again in a minute.',
  },
  DEVICES_DIFFER: {
    blame: 'prover',
    message: 'devices of this machine came to different states after transition {transition}',
    nextStep: 'One of them computes wrongly: run the work on each alone, and take the faulty one out.',
  },
  BOX_STALLED: {
    blame: 'prover',
    retry: true,
    fleet: 'stalled',
    message: 'the box made no progress, and its place was needed',
    nextStep: 'Look at the box: it keeps the connection open and does not finish.',
  },
  CALIBRATION_FAILED: {
    blame: 'prover',
    retry: true,
    message: 'the calibration run did not finish: {why}',
    nextStep: 'Free the box from other work and run again.',
  },
  CANNOT_ATTEST: {
    blame: 'user',
    message: 'the device {device} cannot attest: nothing was done',
    nextStep:
      'That takes an NVIDIA card of Hopper or Blackwell with confidential computing on (nvidia-smi conf-compute -f says whether it is). Use --on with such a box, or --method openings or sumcheck, which need no such hardware.',
  },
  CANNOT_PROVE: {
    blame: 'user',
    message: 'the device {device} cannot prove transitions of this work by sumcheck: nothing was done',
    nextStep: 'Such proofs are made on a processor: name a box without a card with --on, or use --method openings.',
  },
  CARDS_TOO_UNLIKE: {
    blame: 'prover',
    message:
      'the fastest card of this box would be through its rounds before they count: its cards differ too much, or are too many for the preset {preset}',
    nextStep:
      'Use the preset mainnet. If that is what was used, have each kind of card verified as a box of its own: one container or account for each, in which no other card is seen.',
  },
  CHECKS_TOO_SLOW: {
    blame: 'validator',
    retry: true,
    message: 'this validator could not check the answers of the box in time',
    nextStep: 'Give the validator more cores (work.threads), or measure fewer boxes in one window (work.cohortSize).',
  },
  HOST_NOT_OFFERED: {
    blame: 'validator',
    message: 'this prover was started without host parts',
    nextStep: 'Start it with --measure-host.',
  },
  JOB_TIMEOUT: {
    blame: 'prover',
    retry: true,
    fleet: 'stalled',
    message: 'the box took longer than a run may take',
    nextStep: 'Look at the box: it keeps the connection open and does not finish.',
  },
  KEY_OF_ANOTHER_BOX: {
    blame: 'prover',
    message: 'the box answers with the prover key of {other}',
    nextStep:
      'A machine has one entry: remove the other. Where homes are shared or copied, set TOUCHSTONE_HOME on each machine. Where somebody else forwards to your machine, allow the validator from its own address alone (from="…" in authorized_keys).',
  },
  LEDGER_SILENT: {
    blame: 'network',
    retry: true,
    message: 'the ledger has not answered within {seconds} s',
    nextStep: 'Look at what ledger names in validator.yaml; the round is kept and tried again.',
  },
  NOTHING_TO_ASK: {
    blame: 'prover',
    message: 'the box offers none of the precisions asked for',
    nextStep:
      'Every card and processor has some: look at the driver of the box, ask for other precisions, or do not rely on it.',
  },
  NOT_MY_KEY: {
    blame: 'validator',
    message: 'the challenge was made for another prover key',
    nextStep: 'Somebody may be relaying a challenge; connect to the box directly.',
  },
  NO_DEVICES: {
    blame: 'prover',
    message: 'the box offers no device',
    nextStep: 'Check the driver on the box, or add --devices cpu.',
  },
  PROVER_DID_NOT_START: {
    blame: 'prover',
    retry: true,
    fleet: 'release',
    message: 'the prover {what} while "{expected}" was expected{words}',
    nextStep: '{mend}',
  },
  PROVER_FAULT: {
    blame: 'prover',
    retry: true,
    message: 'the prover cannot go on, as it says: {words}',
    nextStep: 'Fix what it reports on the box, then run again.',
  },
  PROVER_NOT_READY: {
    blame: 'prover',
    retry: true,
    fleet: 'stalled',
    message: 'the prover {what} while "{expected}" was expected{words}',
    nextStep: '{mend}',
  },
  ROUND_TOO_LARGE: {
    blame: 'user',
    message: 'a round has at most {most} boxes, and the fleet {boxes}',
    nextStep: 'Split the fleet between validators with stores of their own.',
  },
  SIZE_OF_PRESET: {
    blame: 'user',
    message: '--size {size} would do nothing: the preset {preset} asks for {most} at most',
    nextStep: 'Leave it out, or name a smaller one or another preset.',
  },
  TOO_MANY_OPENINGS: {
    blame: 'user',
    message: '{openings} openings of {devices} devices make a certificate that is too large to be read',
    nextStep: 'Ask for at most {most}, or for fewer devices with --max-devices.',
  },
  UNTIMED_PRESET: {
    blame: 'user',
    message: '{option} asks for seconds, and the preset {preset} has a fixed number of rounds',
    nextStep: 'Leave it out, or use another preset.',
  },
  WINDOW_MISSED: {
    blame: 'prover',
    retry: true,
    fleet: 'void',
    message: 'the box was not ready when its cohort started',
    nextStep: 'Look at the box: it takes too long to start. The next window is tried; the second miss is a failure.',
  },
  WRONG_ORDER: {
    blame: 'validator',
    message: 'the validator sent {what}',
    nextStep: 'Use the same release on both sides.',
  },
})
