/** HTTP: the public listener for machines and the operators' socket. */
export { listenForOperators } from './operator-socket.ts'
export { openApi } from './rest-server.ts'
export type { SecureListener } from './secure-listener.ts'
export { listenForPeople, type WebOptions } from './web-listener.ts'
export { listenPublicly } from './public-listener.ts'
