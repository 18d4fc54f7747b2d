/** SIGHUP: what it asks for, from the first moment of the process to its last. Unheard it would end the process. */

export interface HangUp {
  /** From now on each one calls `reload`. One that came before is kept for it. */
  begin(reload: (name: string) => void): void
  /** None calls anything any more. They are heard still: the process may live a few moments, and must end as it meant to. */
  release(): void
}

export function hangUpSignal(): HangUp {
  let early = false
  let reload: ((name: string) => void) | null = null
  process.on('SIGHUP', (name) => {
    if (reload === null) early = true
    else reload(name)
  })
  return {
    begin: (wanted) => {
      reload = wanted
      if (early) wanted('SIGHUP')
    },
    release: () => {
      reload = () => undefined
    },
  }
}
