import { novaContract } from '../contract/nova-contract.ts'
import { labCloud } from './lab.ts'

novaContract('real Nova keeps the contract', () => labCloud('ct'))
