/** What one node of a shared journal's cluster says of itself and of the daemons' account. Read by journal/, judged by preflight/. */

export interface SharedNode {
  /** As the server writes it, e.g. 10.11.19-MariaDB-log. */
  version: string
  /** Null: the server is in no Galera cluster. */
  galera: {
    /** Whether it serves: false in a minority, and while it joins. */
    ready: boolean
    /** Nodes of the cluster as this one sees it. */
    size: number
    /** Of the cluster: nodes of one cluster name the same. */
    cluster: string
  } | null
  /** innodb_flush_log_at_trx_commit */
  flushAtCommit: number
  /** max_allowed_packet, in bytes */
  largestPacket: number
  /** Null: the node does not serve, and was not asked. */
  schema: SharedSchema | null
}

export interface SharedSchema {
  /** The account as the server knows it, e.g. lifeboat@%. */
  account: string
  /** Tables that are not there, or that the account may not see. */
  missingTables: string[]
  /** Tables that Galera does not replicate, each with its engine. */
  unreplicated: string[]
  /** Tables whose primary key is not the one that `journal init` makes: two daemons could write one entry. */
  wronglyKeyed: string[]
  /** The cloud whose journal it is; null: it may not be read; empty: the row is not there. */
  cloud: string | null
  /** Rights that a daemon needs and the account has not, e.g. "INSERT on entries". */
  missingRights: string[]
  /** Rights that no daemon needs, in the same words. */
  needlessRights: string[]
}
