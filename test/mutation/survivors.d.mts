/** What survivors.mjs gives, for the tests. */
export interface Survivor {
  module: string
  text: string
  replacement: string
  line?: number
}

export interface Reason {
  title: string
  reason: string
  entries: (Survivor & { times: number })[]
}

export function readReasons(file?: URL): Reason[]

export function survivorsOf(module: string, report: { source: string; mutants: object[] }): Required<Survivor>[]

export function judge(
  survivors: Survivor[],
  reasons: Reason[],
  modules: ReadonlySet<string>,
): { listed: { title: string; reason: string; survivors: Survivor[] }[]; without: Survivor[]; idle: Survivor[] }
