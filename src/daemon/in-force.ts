/**
 * What of the configuration is in force, in a process that builds another daemon when it takes over. Owns what outlives that daemon: the rules of the
 * last reload, who may ask, and the word by which the daemons that share a journal compare their rules.
 */
import type { Config, LoadedConfig } from '../config/index.ts'
import type { Mode, Rules } from '../control/rules.ts'
import type { ConfigurationState } from '../domain/operations.ts'
import { rulesDigest } from './rules-digest.ts'

export class InForce {
  #loaded: LoadedConfig
  #rules: Rules | null = null
  #digest: string
  /** What the daemon at work knew of it last; null before the first reload. */
  state: ConfigurationState | null = null

  constructor(loaded: LoadedConfig, workflows: Rules['workflows']) {
    this.#loaded = loaded
    this.#digest = rulesDigest(loaded.config, workflows)
  }

  get loaded(): LoadedConfig {
    return this.#loaded
  }

  get config(): Config {
    return this.#loaded.config
  }

  get mode(): Mode {
    return this.#loaded.config.mode
  }

  /** Null before the first reload: they are those that the process started with. */
  get rules(): Rules | null {
    return this.#rules
  }

  get digest(): string {
    return this.#digest
  }

  /** A reload put these in force. */
  adopt(loaded: LoadedConfig, rules: Rules): void {
    this.#loaded = loaded
    this.#rules = rules
    this.#digest = rulesDigest(loaded.config, rules.workflows)
  }
}
