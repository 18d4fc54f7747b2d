/** Who sends a request, as the token says, and the request's id: the key of the action that it causes. */
export interface Caller {
  userId: string
  userName: string
  projectId: string
  roles: string[]
  requestId: string
}

export function isAdmin(caller: Caller): boolean {
  return caller.roles.includes('admin')
}
