import type { Precision } from '../params/precision.ts'

/** Where a figure comes from: what the vendor prints, or what somebody ran and published. */
export type Basis = 'datasheet' | 'measured'

export interface Source {
  readonly title: string
  readonly year: number
  /** Address of the page; a datasheet may be named by title and year alone. */
  readonly address?: string
}

/** One published number: operations (2 per multiply-add, dense) or bytes per second. */
export interface PublishedFigure {
  readonly value: number
  readonly basis: Basis
  readonly source: string
  /** Reached by something other than a plain copy: the card is at least that fast. */
  readonly atLeast?: true
}

/** The share of a published figure that a proof shows, from `low` to `high`. */
export interface Fraction {
  readonly low: number
  readonly high: number
}

/** Consumer cards run above the clock of their datasheet, professional ones are held below it by their power limit. */
export type ProductLine = 'consumer' | 'professional'

export interface CatalogueRules {
  readonly rate: Readonly<Record<'datasheetConsumer' | 'datasheetProfessional' | 'measured', Fraction>>
  readonly fp32: Readonly<Record<Basis, Fraction>>
  readonly bandwidth: Readonly<Record<Basis, Fraction>>
}

/** How host and card are joined, for the floor of §7. */
export type HostLink = 'pcie' | 'c2c'

export interface GpuModel {
  readonly id: string
  readonly name: string
  readonly vendor: string
  readonly chip: string
  readonly line: ProductLine
  readonly aliases: readonly string[]
  readonly hostLink: HostLink
  /** Whether cards of this model can be joined by NVLink, which §1 cannot tell from one card. */
  readonly nvlink: boolean
  readonly memoryBytes: number
  readonly memorySource: string
  readonly bandwidth: readonly PublishedFigure[]
  readonly rates: Readonly<Partial<Record<Precision, readonly PublishedFigure[]>>>
  /** Models of the same chip that a measurement with 10 % noise cannot tell from this one. */
  readonly twins: readonly string[]
}

export interface Catalogue {
  readonly version: 1
  readonly rules: CatalogueRules
  readonly sources: Readonly<Record<string, Source>>
  readonly models: readonly GpuModel[]
}
