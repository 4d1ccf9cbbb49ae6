import type { Labels, MetricDefinition, Metrics } from '../../ports/metrics.ts'

interface Series {
  readonly labels: string
  value: number
  readonly buckets: number[]
  count: number
}

/** Counters, gauges and histograms as Prometheus text. Names that were not declared are refused: a typo must not hide. */
export function textMetrics(definitions: readonly MetricDefinition[]): Metrics {
  const known = new Map(
    definitions.map((definition) => [definition.name, { definition, own: new Map<string, Series>() }]),
  )
  const declared = (name: string) => {
    const metric = known.get(name)
    if (!metric) throw new RangeError(`metric ${name} is not declared`)
    return metric
  }
  const at = (name: string, labels: Labels): [MetricDefinition, Series] => {
    const { definition, own } = declared(name)
    const text = labelText(labels)
    const buckets = (definition.buckets ?? []).map(() => 0)
    const found = own.get(text) ?? { labels: text, value: 0, buckets, count: 0 }
    own.set(text, found)
    return [definition, found]
  }
  return {
    add: (name, labels = {}, by = 1) => {
      at(name, labels)[1].value += by
    },
    set: (name, value, labels = {}) => {
      at(name, labels)[1].value = value
    },
    replace: (name, series) => {
      declared(name).own.clear()
      for (const [value, labels] of series) at(name, labels)[1].value = value
    },
    observe: (name, value, labels = {}) => {
      const [{ buckets = [] }, found] = at(name, labels)
      found.value += value
      found.count++
      for (const [i, bound] of buckets.entries()) if (value <= bound) found.buckets[i]!++
    },
    text: () => [...known.values()].map(({ definition, own }) => textOf(definition, [...own.values()])).join(''),
  }
}

function textOf({ name, help, type, buckets = [] }: MetricDefinition, all: readonly Series[]): string {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
  for (const { labels, value, buckets: counts, count } of all) {
    if (type !== 'histogram') lines.push(`${name}${braces(labels)} ${value}`)
    else {
      for (const [i, bound] of buckets.entries())
        lines.push(`${name}_bucket${braces(labels, `le="${bound}"`)} ${counts[i]}`)
      lines.push(`${name}_bucket${braces(labels, 'le="+Inf"')} ${count}`)
      lines.push(`${name}_sum${braces(labels)} ${value}`, `${name}_count${braces(labels)} ${count}`)
    }
  }
  return `${lines.join('\n')}\n`
}

const braces = (...labels: readonly string[]): string => {
  const some = labels.filter((label) => label !== '')
  return some.length === 0 ? '' : `{${some.join(',')}}`
}

const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[^\x20-\x7e]|["\\]/g, '_').slice(0, 80)}"`)
    .join(',')
