/** HTTP: the public listener for machines and the operators' socket. */
export { listenForOperators } from './operator-socket.ts'
export { listenPublicly, type PublicSources } from './public-listener.ts'
