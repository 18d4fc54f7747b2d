/** To the daemon of this machine, through its Unix socket. Who may open the socket may act. */
import { request } from 'node:http'
import type { Clock } from '../domain/clock.ts'
import { exchanged, takenPerhaps, type Broken, type Question, type Transport } from './exchange.ts'
import { CliFailure } from './exit-codes.ts'

export function socketTransport(socketPath: string, clock: Clock): Transport {
  return {
    place: 'the daemon',
    named: true,
    exchange: (question) =>
      exchanged(
        (options, onAnswer) => request({ ...options, socketPath, path: question.path }, onAnswer),
        clock,
        question,
        { headers: {}, broken: (broken) => unreachable(socketPath, broken, question) },
      ),
    explained: () => Promise.resolve(null),
  }
}

function unreachable(socketPath: string, { error }: Broken, question: Question): CliFailure {
  if (error.code === 'EACCES' || error.code === 'EPERM') {
    return new CliFailure('noPermission', `you may not talk to the daemon (${socketPath})`, [
      'join the group that owns the socket, or use sudo',
    ])
  }
  if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') {
    return new CliFailure('daemonDown', `no daemon answers on ${socketPath}`, [
      'start it with `lifeboat run` or `systemctl start lifeboat`',
      'if it runs with another configuration, pass that with --config',
      'if it runs on another machine, pass its address with --url',
    ])
  }
  return new CliFailure('daemonDown', `the connection to the daemon failed: ${error.message}`, takenPerhaps(question))
}
