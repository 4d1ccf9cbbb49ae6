export interface MetricDefinition {
  /** Ends in its unit. */
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Upper bounds, for a histogram. */
  readonly buckets?: readonly number[]
}

/** Few and fixed values: every combination is a series that somebody stores. */
export type Labels = Readonly<Record<string, string>>

export interface Metrics {
  add(name: string, labels?: Labels, by?: number): void
  set(name: string, value: number, labels?: Labels): void
  /** All series of a gauge at once: what is not among them is told no longer. */
  replace(name: string, series: readonly (readonly [value: number, labels: Labels])[]): void
  observe(name: string, value: number, labels?: Labels): void
  /** Prometheus text exposition. */
  text(): string
}
