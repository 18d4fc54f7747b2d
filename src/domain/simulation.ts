/** A simulated cloud whose plugs people pull from the pages: the demo's. A daemon of a real cloud has none. */
export interface Plug {
  /** `host:cmp03`, `rack:a`, `bmc:cmp03`, `service:nova-api`, `receiver:on-call`. */
  id: string
  kind: 'host' | 'rack' | 'bmc' | 'service' | 'receiver'
  /** As people call it. */
  title: string
  /** Pulled, or dead for another reason: Lifeboat has fenced the host. */
  out: boolean
  /** The plug that takes this one with it: the rack of a host; null: none. */
  within: string | null
}

export interface Simulation {
  plugs(): Plug[]
  /** Pulls a plug, or puts it back; one that is so already stays so. Throws NOT_FOUND. */
  set(id: string, out: boolean): void
}
