/**
 * The operators' Unix socket. Who may open the file may act: its mode (0660) and group are the login. A socket file that a
 * killed daemon left behind is replaced; one that someone answers on is never touched.
 */
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { LifeboatError } from '../domain/errors.ts'
import type { RestSources } from './rest.ts'
import { onSocket, restServer } from './rest-server.ts'

/** Owner and group may connect. Wider, and everybody on the machine can order an evacuation. */
const socketMode = 0o660

/** Listens on `path`. Throws API_UNAVAILABLE when a daemon answers there, or the path is something else than a socket. */
export async function listenForOperators(sources: RestSources, path: string): Promise<{ close(): Promise<void> }> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o750 })
  await clearStaleSocket(path)
  const server = restServer(sources, onSocket)
  try {
    // Until chmod the mode is 0777 without the umask: with any usual umask only the owner can connect meanwhile.
    await server.listen({ path })
    chmodSync(path, socketMode)
  } catch (thrown) {
    await server.close()
    throw new LifeboatError('API_UNAVAILABLE', `Cannot listen on ${path}`, { cause: thrown })
  }
  return { close: () => server.close() }
}

async function clearStaleSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket())
    throw new LifeboatError('API_UNAVAILABLE', `${path} is not a socket; it is left alone (set socket to another path)`)
  if (await answers(path)) throw new LifeboatError('API_UNAVAILABLE', `Another daemon answers on ${path}`)
  rmSync(path, { force: true })
}

/** Only a refused connection says that nobody is there; every other failure counts as someone. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    )
  })
}
