/**
 * The configuration of a daemon that reaches a real (or simulated) cloud: builds new rules beside those in force. Keeps the
 * connection to the cloud where nothing of it changed, so that its token and what it learnt stay.
 */
import { deadline } from '../domain/clock.ts'
import { ensureError, LifeboatError } from '../domain/errors.ts'
import type { Workflows } from '../engine/workflow.ts'
import type { TokenCheck } from '../domain/token-holder.ts'
import { readRegularFile } from '../system/regular-file.ts'
import type { OpenStackCloud } from '../openstack/cloud-client.ts'
import type { CloudConfig } from '../openstack/cloud-config.ts'
import { buildAdapters, buildCloud, cloudConfigOf, type AdapterContext, type Adapters } from '../adapters/adapters.ts'
import type { Config, LoadedConfig } from '../config/index.ts'
import { rulesOf } from './daemon-parts.ts'
import type { BuiltRules, ConfigurationSource } from '../operations/reloads.ts'

/** New credentials are tried for so long. Longer: a reload seems to hang; shorter: a slow Keystone leaves them untried. */
const tryLimitMs = 10_000

export interface SourceParts {
  loaded: LoadedConfig
  read: () => LoadedConfig
  context: AdapterContext
  /** The workflows of new incidents. Throws WORKFLOW_INVALID. */
  loadWorkflows: (config: Config) => Workflows
}

export interface StartedSource extends ConfigurationSource {
  /** What the daemon starts with. */
  adapters: Adapters
  workflows: Workflows
  /** Whose tokens people show, asked with the credentials in use at that time. */
  people: TokenCheck
  /** The connection that is in use now. */
  cloudInUse: () => OpenStackCloud
  /** Closes the connections to the cloud in use at that time. */
  close: () => void
}

/** Builds what the daemon starts with. Throws CONFIG_INVALID and WORKFLOW_INVALID. */
export function configurationSource({ loaded, read, context, loadWorkflows }: SourceParts): StartedSource {
  let workflows = loadWorkflows(loaded.config)
  const started = cloudConfigOf(loaded.config, context)
  const adapters = buildAdapters(loaded.config, context, buildCloud(started, loaded.config, context))
  let { cloud } = adapters
  let likeness = likenessOf(started, loaded.config)
  const startedWith = workflows

  async function build(next: LoadedConfig): Promise<BuiltRules> {
    const { config } = next
    const documents = loadWorkflows(config)
    // The name of the cloud is read at the start alone: what is under that name now may be new.
    const access = cloudConfigOf(loaded.config, context)
    const elsewhere = addressOf(access) !== addressOf(started)
    const alike = likenessOf(access, config)
    const renewed = elsewhere || alike === likeness ? null : buildCloud(access, config, context)
    const built = await rulesOver(renewed, config, documents).catch((thrown: unknown) => {
      renewed?.close()
      throw thrown
    })
    return {
      ...built,
      changed: [
        ...(renewed === null ? [] : [`credentials, TLS or time limits of the cloud (${access.source})`]),
        ...changedOf(documents, workflows),
      ],
      waiting: elsewhere ? [`address, region or endpoints of the cloud (${access.source})`] : [],
      adopted: () => {
        if (renewed !== null) {
          cloud.close()
          cloud = renewed
          likeness = alike
        }
        workflows = documents
      },
      dropped: () => renewed?.close(),
    }
  }

  async function rulesOver(
    renewed: OpenStackCloud | null,
    config: Config,
    documents: Workflows,
  ): Promise<Pick<BuiltRules, 'rules' | 'warnings'>> {
    const warnings = renewed === null ? [] : await tried(renewed)
    return { rules: rulesOf(config, buildAdapters(config, context, renewed ?? cloud), documents), warnings }
  }

  /** A plain no of Keystone's refuses the reload; where it cannot be asked, the old credentials would be no better. */
  async function tried(renewed: OpenStackCloud): Promise<string[]> {
    const limit = deadline(context.clock, tryLimitMs)
    try {
      await renewed.capabilities({ signal: limit.signal })
      return []
    } catch (thrown) {
      const error = ensureError(thrown)
      if (error.code !== 'AUTH_FAILED' && error.code !== 'AUTH_FORBIDDEN')
        return [`the new credentials of the cloud could not be tried: ${error.message}`]
      const message = `The new credentials are refused, and the old ones stay in use: ${error.message}`
      throw new LifeboatError('CONFIG_INVALID', message, { cause: error })
    } finally {
      limit.release()
    }
  }

  const people: TokenCheck = {
    holder: (token) => cloud.people.holder(token),
    login: (login) => cloud.people.login(login),
    rescope: (token, scope) => cloud.people.rescope(token, scope),
    ownProject: () => cloud.people.ownProject(),
    publicUrl: () => cloud.people.publicUrl(),
  }
  const cloudInUse = (): OpenStackCloud => cloud
  return {
    ...{ loaded, read, build, adapters, people, cloudInUse },
    workflows: startedWith,
    close: () => cloud.close(),
  }
}

/** The documents that are not those of before, in words. */
function changedOf(next: Workflows, before: Workflows): string[] {
  const known = new Set(Object.values(before).map(({ digest }) => digest))
  return Object.values(next)
    .filter(({ digest }) => !known.has(digest))
    .map(({ name, revision }) => `workflow ${name} (revision ${revision})`)
}

/** Which cloud it is: a journal belongs to one. */
function addressOf({ authUrl, endpoints }: CloudConfig): string {
  return JSON.stringify({ authUrl, endpoints })
}

/** Everything that a connection is made of, the contents of certificates too: they are renewed in place. */
function likenessOf(access: CloudConfig, { api }: Pick<Config, 'api'>): string {
  const { cacert, cert, key } = access.tls
  return JSON.stringify({ access, api, contents: [cacert, cert, key].map(contentOf) })
}

/** Null also of a file that cannot be read: anyone who makes the connection of it says so, and which option names it. */
function contentOf(file: string | null): string | null {
  try {
    return file === null ? null : readRegularFile(file).toString('base64')
  } catch {
    return null
  }
}
