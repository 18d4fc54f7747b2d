/**
 * Compression of what the REST API answers on TCP: the review of an incident of thousands of instances has megabytes, and is
 * read at night over a VPN. Owns which answers are compressed and how hard. The pages' own files are compressed when they are
 * built (pages.ts); an event stream is not, because it writes past the replies that are compressed here.
 */
import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'

/** Answers below it go as they are: they fit into a packet or two, and compressing them would only cost time. */
const leastBytes = 2_048

/**
 * As hard as costs next to nothing, because the daemon recovers hosts meanwhile and most readers are near. The review of 5,000
 * instances, 3.7 MB, becomes 54 kB in 5 ms with brotli's 2 (its 4: 52 kB in 14 ms; its default, 11: seconds), and 103 kB in 4 ms
 * with gzip's 1 (its 6: 88 kB in 17 ms). All but short answers are compressed beside the event loop.
 */
const brotliQuality = 2
const gzipLevel = 1

/** 256 KiB. More is memory of each answer under way for nothing: what repeats in ours is near. */
const brotliWindowBits = 18

/**
 * Compresses the answers of the routes that are added after it. Programs that ask for nothing get nothing compressed.
 *
 * Of a cookie that a page of another site cannot use (SameSite=Strict) such a page cannot guess by the length of answers
 * either; all the same, what begins a session is never compressed (its route says so).
 */
export async function compressAnswers(server: FastifyInstance): Promise<void> {
  await server.register(compress, {
    threshold: leastBytes,
    encodings: ['br', 'gzip'],
    brotliOptions: {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
        [constants.BROTLI_PARAM_LGWIN]: brotliWindowBits,
      },
    },
    zlibOptions: { level: gzipLevel },
    // A request is a name and a sentence. Whatever unpacks what strangers send can be made to unpack a lot.
    globalDecompression: false,
  })
}
