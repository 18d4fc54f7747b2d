/** The listener of Masakari's API. */
import {
  listenSecurely,
  secureExtras,
  type ListenerOptions,
  type ListenerPlace,
  type SecureListener,
} from '../../api/secure-listener.ts'
import type { MasakariOptions, MasakariParts } from './parts.ts'
import { masakariServer } from './server.ts'

const place: ListenerPlace = { option: 'masakari_api', name: "Masakari's API" }

/** Listens; port 0 takes a free one. Throws API_UNAVAILABLE when the address is taken, CONFIG_INVALID for a bad certificate. */
export async function listenAsMasakari(
  parts: MasakariParts,
  options: MasakariOptions & ListenerOptions,
): Promise<SecureListener> {
  const server = await masakariServer(parts, options, secureExtras(options, place))
  return listenSecurely(server, parts, options, place)
}
