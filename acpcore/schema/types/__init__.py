"""The types of ACP v2 by topic; ``acpcore.schema.v2`` has them all."""
