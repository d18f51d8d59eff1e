"""Deletes a group with the generated client, and prints the response's code: python read_code.py BASE_URL"""
import sys

from wallet_infrastructure_service_client import AuthenticatedClient
from wallet_infrastructure_service_client.api.auth import delete_user_group

client = AuthenticatedClient(base_url=sys.argv[1], token="token", headers={"X-SVC-USERACTION": "action"})
refused = delete_user_group.sync("ug-1a2b3-c4d5e-f6g7h8i9j0k1l2m3", client=client)
print(refused.status, refused.code)
