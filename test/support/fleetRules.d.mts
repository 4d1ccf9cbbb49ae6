import type { FleetRules } from '../../src/apps/validator/fleet/fleet.ts'

export declare const fleetRules: (score: FleetRules['score']) => FleetRules
